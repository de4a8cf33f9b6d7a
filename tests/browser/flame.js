// SPDX-License-Identifier: BSD-2-Clause
// A flame graph of the trigger program "shares" in a browser: zoom, search, keys, and names that
// would like to be markup. Usage: flame.js CHROMIUM SVG DIRECTORY (for screenshots)
'use strict';
const assert = require('node:assert');
const path = require('node:path');
const {addressOf, check} = require('./checks.js');

const [browserPath, svg, directory] = process.argv.slice(2);
const NAME = '<b>&";]]>\\x1b';

// Where a frame is on the screen, or null if it is not drawn. Of several the widest: a stack may have lost its callers.
function frame(page, name) {
	return page.evaluate((wanted) => {
		const width = (each) => +each.querySelector('rect').getAttribute('width');
		const g = Array.from(document.querySelectorAll('#plot > g')).filter((each) =>
			each.querySelector('title').textContent.split('\n')[0] === wanted).sort((a, b) => width(b) - width(a))[0];
		const rect = g && g.querySelector('rect'), text = g && g.querySelector('text');
		return g && g.style.display !== 'none' ? {
			x: +rect.getAttribute('x'), y: +rect.getAttribute('y'), width: +rect.getAttribute('width'),
			text: text ? text.textContent : '', classes: Array.from(g.classList),
		} : null;
	}, name);
}

async function click(page, name) {
	const f = await frame(page, name);
	await page.mouse.click(f.x + f.width / 2, f.y + 8);
}

const said = (page) => page.textContent('#said');
const found = (page) => page.textContent('#found');

const tests = {
	async 'shares are widths'(page) {
		const all = await frame(page, 'all'), seventy = await frame(page, 'seventy');
		const ten = await frame(page, 'ten');
		assert.ok(Math.abs(seventy.width / all.width - 0.69) < 0.1, JSON.stringify(seventy));
		assert.ok(ten.width < seventy.width / 4 && ten.y === seventy.y);
		assert.ok((await frame(page, 'main')).y > (await frame(page, 'work')).y, 'callers are below');
		assert.strictEqual(seventy.text, 'seventy');
	},

	async 'hostile names are text'(page) {
		assert.ok(await frame(page, NAME), 'the name is there, as it is');
		assert.strictEqual(await page.locator('svg b').count(), 0);
		assert.strictEqual(await page.locator('script').count(), 1);
	},

	async 'zoom and back'(page) {
		const before = await frame(page, 'seventy');
		await click(page, 'ten');
		const ten = await frame(page, 'ten');
		assert.ok(ten.width > 1170, JSON.stringify(ten));
		assert.strictEqual(await frame(page, 'seventy'), null);
		assert.ok((await frame(page, 'work')).classes.includes('below'));
		assert.match(await said(page), /^ten: /);
		await page.click('#reset');
		assert.deepStrictEqual(await frame(page, 'seventy'), before);
		assert.ok(!await page.isVisible('#reset'));
	},

	async 'hover tells count and share'(page) {
		const f = await frame(page, 'seventy');
		await page.mouse.move(f.x + 20, f.y + 8);
		assert.match(await said(page), /^seventy: [\d,]+ samples, [67]\d\.\d\d%$/);
	},

	async 'search'(page) {
		await page.fill('#box', '^(seventy|twenty)$');
		const share = parseFloat((await found(page)).replace('matched: ', ''));
		assert.ok(share > 80 && share < 97, await found(page));
		assert.match(await found(page), /, 2 frames$/);
		assert.ok((await frame(page, 'seventy')).classes.includes('hit'));
		assert.ok(!(await frame(page, 'ten')).classes.includes('hit'));
		// What stands on a hit is not counted twice.
		await page.fill('#box', 'work|seventy');
		assert.ok(parseFloat((await found(page)).replace('matched: ', '')) <= 100);
		await page.fill('#box', '(');
		assert.ok(await page.evaluate(() => document.getElementById('box').classList.contains('bad')));
		await page.fill('#box', '');
		assert.strictEqual(await found(page), '');
		assert.strictEqual(await page.locator('.hit').count(), 0);
	},

	async 'search within a zoom'(page) {
		await page.fill('#box', 'seventy');
		await click(page, 'seventy');
		assert.match(await found(page), /^matched: 100\.00%/);
		await page.keyboard.press('Escape');    // leaves the box or resets the zoom
		await page.keyboard.press('Escape');
		await page.fill('#box', '');
	},

	async 'keys'(page) {
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.press('ArrowUp');
		assert.match(await said(page), new RegExp('^' + NAME.replace(/[\\\]"&;<>]/g, '\\$&') + ': '));
		await page.keyboard.press('ArrowUp');
		await page.keyboard.press('ArrowDown');
		assert.strictEqual(await page.locator('.selected').count(), 1);
		await page.keyboard.press('ArrowUp');
		await page.keyboard.press('Enter');
		assert.ok(await page.isVisible('#reset'));
		await page.keyboard.press('Escape');
		assert.ok(!await page.isVisible('#reset'));
		await page.keyboard.press('/');
		assert.strictEqual(await page.evaluate(() => document.activeElement.id), 'box');
		await page.keyboard.type('ten');
		assert.match(await found(page), /^matched: /);
		await page.keyboard.press('Escape');
		assert.strictEqual(await found(page), '');
	},
};

// The file is to be readable where no script runs.
async function withoutScripts(_, browser) {
	const context = await browser.newContext({javaScriptEnabled: false, viewport: {width: 1220, height: 600}});
	const page = await context.newPage();

	await page.goto(addressOf(svg));
	await page.screenshot({path: path.join(directory, 'plain.png')});
	assert.ok(await page.locator('text=seventy').count() > 0);
	assert.ok(!await page.isVisible('#box') && !await page.isVisible('#reset'));
	await context.close();
}

check({browserPath, file: svg, directory, viewport: {width: 1220, height: 600}, name: 'failed',
	tests: {...tests, 'without scripts': withoutScripts},
	ends: async (page) => {
		await page.fill('#box', 'twenty');
		await page.screenshot({path: path.join(directory, 'flame.png')});
	}});

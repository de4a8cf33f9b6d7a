// SPDX-License-Identifier: BSD-2-Clause
// A page of a recording (--format html) in a browser: what is loaded and run, sorting, filtering, several flame graphs, light and
// dark, narrow, on paper, without scripts. Usage: page.js CHROMIUM PAGE FINDINGS JSON DIRECTORY (for screenshots)
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const {addressOf, check} = require('./checks.js');

const [browserPath, file, findings, json, directory] = process.argv.slice(2);
const address = addressOf(file);
const report = JSON.parse(fs.readFileSync(json, 'utf8').split('\n')[0]);
const requests = [];
const LINE = 'syscount --by comm,syscall';
const NAMES = ['<b onload=x()>', '"\'><script>x()', ']]>\\x1b[2J&lt;'];

// The table of a measurement, as a reader sees it: each row its cells.
function rows(page, heading, selector = 'table.data') {
	return page.evaluate(([wanted, inner]) => {
		const section = Array.from(document.querySelectorAll('section')).find((s) => s.querySelector('h2').textContent === wanted);
		return Array.from(section.querySelector(inner).tBodies[0].rows).filter((r) => r.offsetHeight).map((r) =>
			Array.from(r.cells, (c) => c.dataset.v === undefined ? c.textContent : +c.dataset.v));
	}, [heading, selector]);
}

function section(page, heading) {
	return page.locator('section', {has: page.locator('h2', {hasText: heading})}).first();
}

// Of one flame graph, a frame by its name: on the screen, or null.
async function frame(graph, name) {
	return graph.evaluate((svg, wanted) => {
		const g = Array.from(svg.querySelectorAll('.plot > g')).find((each) =>
			each.querySelector('title').textContent.split('\n')[0] === wanted && each.style.display !== 'none');
		return g ? +g.querySelector('rect').getAttribute('width') : null;
	}, name);
}

// Contrast of all texts with what is behind them, the least of all (WCAG 2).
function leastContrast(page) {
	return page.evaluate(() => {
		const channels = (text) => text.match(/[\d.]+/g).map(Number);
		const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		let least = [99, ''];
		for (const e of document.querySelectorAll('h1,h2,h3,p,dt,dd,th,td,a,code,summary,span,button')) {
			if (!e.offsetHeight || !e.textContent) continue;
			let behind = e, back;
			do {
				back = channels(getComputedStyle(behind).backgroundColor);
				behind = behind.parentElement;
			} while (behind && back[3] === 0);
			const a = light(channels(getComputedStyle(e).color)), b = light(back);
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (contrast < least[0]) least = [contrast, e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 40)];
		}
		return least;
	});
}

const tests = {
	async 'figures are those of JSON'(page) {
		const wanted = report.rows.slice(0, 150).map((r) => Object.values(r).map((v) => v === null ? '' : v));
		assert.deepStrictEqual(await rows(page, LINE), wanted);
	},

	async 'hostile names are texts'(page) {
		const text = await page.textContent('main');
		for (const name of NAMES)
			assert.ok(text.includes(name), name);
		assert.strictEqual(await page.locator('b, main script, [onload]').count(), 0);
		assert.strictEqual(await page.evaluate(() => typeof window.x), 'undefined');
	},

	// Even if a name were markup it would have no right to run.
	async 'the policy holds'(page) {
		const context = await page.context().browser().newContext(), other = await context.newPage(), refused = [];
		let ran = false;
		other.on('console', (message) => refused.push(message.text()));
		await other.exposeFunction('x', () => { ran = true; });
		const text = fs.readFileSync(file, 'utf8').replace('<main>', '<main><script>x()</script>' +
			'<svg onload="x()"></svg><img src="https://example.invalid/a.png"><style>h1{display:none}</style>');
		await other.route('**/*', (route) => route.request().url().startsWith('file:') ?
			route.fulfill({body: text, contentType: 'text/html'}) : route.abort());
		await other.goto(address);
		assert.ok(!ran && await other.isVisible('h1') && refused.length >= 4, JSON.stringify(refused));
		assert.ok(refused.every((each) => /Content Security Policy/.test(each)), JSON.stringify(refused));
		await context.close();
	},

	async 'a table is sorted by its headings'(page) {
		const heading = section(page, LINE).locator('th button', {hasText: 'calls'}).first();
		const before = await rows(page, LINE), k = before[0].length - 2;

		await heading.click();
		let now = (await rows(page, LINE)).map((r) => r[k]);
		assert.deepStrictEqual(now, now.slice().sort((a, b) => b - a));
		await heading.click();
		now = (await rows(page, LINE)).map((r) => r[k]);
		assert.deepStrictEqual(now, now.slice().sort((a, b) => a - b));
		assert.strictEqual(await section(page, LINE).locator('[aria-sort=ascending]').count(), 1);
		await section(page, LINE).locator('th button').first().click();
		const names = (await rows(page, LINE)).map((r) => r[0]);
		assert.deepStrictEqual(names, names.slice().sort((a, b) => a.localeCompare(b)));
		assert.strictEqual(names.length, before.length);
	},

	async 'a table is filtered'(page) {
		const box = section(page, LINE).locator('input.filter');

		await box.fill('GETPPID');
		const left = await rows(page, LINE);
		assert.ok(left.length >= NAMES.length && left.every((r) => r.join(' ').includes('getppid')), JSON.stringify(left));
		assert.match(await section(page, LINE).locator('.sieve span').textContent(), new RegExp(`^${left.length} of \\d+ rows$`));
		await box.fill('');
		assert.ok((await rows(page, LINE)).length > left.length);
	},

	async 'flame graphs zoom and search, each by itself'(page) {
		const graphs = await page.locator('.flame svg').all();
		assert.strictEqual(graphs.length, 2);
		const [one, two] = graphs, all = await frame(one, 'all'), other = await two.innerHTML();

		assert.ok(await frame(one, NAMES[0]) < all / 2);
		await one.locator('.plot > g', {has: page.locator(`title:text("${NAMES[0]}")`)}).first().click();
		assert.ok(Math.abs(await frame(one, NAMES[0]) - all) < 1);
		assert.ok((await one.locator('.said').textContent()).startsWith(NAMES[0] + ': '));
		await page.keyboard.press('Escape');
		assert.ok(await frame(one, NAMES[0]) < all / 2);
		await one.locator('input').fill('main');
		assert.match(await one.locator('.found').textContent(), /^matched: /);
		await one.locator('input').fill('');
		assert.strictEqual(await two.innerHTML(), other);
		await two.locator('input').fill('x');
		assert.strictEqual(await one.locator('.found').textContent(), '');
		await two.locator('input').fill('');
	},

	async 'the contents lead everywhere'(page) {
		const targets = await page.locator('nav a').evaluateAll((links) => links.map((a) => a.getAttribute('href')));
		assert.ok(targets.length >= 5);
		for (const each of targets)
			assert.strictEqual(await page.locator(each).count(), 1, each);
	},

	async 'it fits 400 pixels'(page) {
		await page.setViewportSize({width: 400, height: 800});
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
		await page.screenshot({path: path.join(directory, 'page-narrow.png')});
		await page.setViewportSize({width: 1280, height: 900});
	},

	async 'light, dark, paper'(page) {
		for (const colorScheme of ['light', 'dark']) {
			await page.emulateMedia({colorScheme});
			const [least, where] = await leastContrast(page);
			assert.ok(least >= 4.5, `${colorScheme}: ${least} at ${where}`);
			await page.screenshot({path: path.join(directory, `page-${colorScheme}.png`)});
		}
		await page.emulateMedia({media: 'print', colorScheme: 'light'});
		assert.ok((await rows(page, LINE)).length <= 40);
		assert.ok(!await page.locator('.sieve').first().isVisible());
		assert.ok((await page.pdf({path: path.join(directory, 'page.pdf')})).length > 1000);
		await page.emulateMedia({media: 'screen'});
	},
};

// Everything is there where no script runs: the same rows, the frames' names, and nothing that would need one.
async function withoutScripts(_, browser) {
	const context = await browser.newContext({javaScriptEnabled: false, viewport: {width: 1280, height: 900}});
	const page = await context.newPage();

	await page.goto(address);
	const cells = await section(page, LINE).locator('table.data').first().locator('tbody tr').count();
	assert.strictEqual(cells, Math.min(report.rows.length, 150));
	assert.ok(await section(page, LINE).locator('tbody tr', {hasText: 'getppid'}).first().isVisible());
	assert.strictEqual(await page.locator('button, input.filter').count(), 0);
	assert.ok(await page.locator('.flame svg .plot text').count() > 2);
	assert.ok(!await page.locator('.flame svg input').first().isVisible());
	await page.screenshot({path: path.join(directory, 'page-plain.png')});
	await context.close();
}

// The next command is copied as it is to be typed.
async function copiesCommands(_, browser) {
	const context = await browser.newContext({permissions: ['clipboard-read', 'clipboard-write']});
	const page = await context.newPage(), messages = [];

	page.on('console', (message) => messages.push(message.text()));
	await page.goto(addressOf(findings));
	const command = await page.locator('.next code').first().textContent();
	await page.locator('.next button').first().click();
	await page.waitForFunction(() => /copied|selected/.test(document.querySelector('.next button').textContent));
	assert.strictEqual(await page.evaluate(() => navigator.clipboard.readText()), command);
	assert.match(command, /^tally \w/);
	await page.screenshot({path: path.join(directory, 'page-findings.png')});
	assert.deepStrictEqual(messages, []);
	await context.close();
}

check({browserPath, file, directory, viewport: {width: 1280, height: 900}, name: 'page-failed',
	tests: {...tests, 'without scripts': withoutScripts, 'commands are copied': copiesCommands,
		'nothing else is loaded': () => assert.deepStrictEqual(requests.filter((each) => each !== 'data:,'), [address])},
	opened: (page) => {
		page.setDefaultTimeout(8000);
		page.on('request', (request) => requests.push(request.url()));
	}});

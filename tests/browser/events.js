// SPDX-License-Identifier: BSD-2-Clause
// A flame graph of several events in a browser: one is shown at a time, buttons and digits switch, each drawing has its own zoom
// and search. Usage: events.js CHROMIUM SVG DIRECTORY (for screenshots)
'use strict';
const assert = require('node:assert');
const path = require('node:path');
const {addressOf, check} = require('./checks.js');

const [browserPath, svg, directory] = process.argv.slice(2);
const EVENTS = ['cpu-clock', 'page-faults', 'sched:sched_switch'];

// The indexes of the drawings that are shown.
const shown = (page) => page.evaluate(() => Array.from(document.querySelectorAll('.part')).map((part, index) =>
	part.getBoundingClientRect().height > 0 ? index : -1).filter((index) => index >= 0));

const said = (page, index) => page.evaluate((i) => document.querySelectorAll('.part')[i].querySelector('.said').textContent, index);

const zoomed = (page, index) => page.evaluate((i) => document.querySelectorAll('.part')[i].querySelectorAll('.below').length, index);

async function clickFrame(page, index, name) {
	const at = await page.evaluate(([i, wanted]) => {
		const part = document.querySelectorAll('.part')[i];
		const g = Array.from(part.querySelectorAll('.plot > g')).find((each) =>
			each.querySelector('title').textContent.split('\n')[0] === wanted && each.style.display !== 'none');
		const box = g.querySelector('rect').getBoundingClientRect();
		return {x: box.x + box.width / 2, y: box.y + box.height / 2};
	}, [index, name]);
	await page.mouse.click(at.x, at.y);
}

const tests = {
	async 'the first is shown, alone'(page) {
		assert.deepStrictEqual(await shown(page), [0]);
		assert.match(await said(page, 0), /^all: [\d,]+ samples, 100\.00%/);
	},

	async 'a button for each'(page) {
		const labels = await page.locator('.switch').allTextContents();
		assert.strictEqual(labels.length, EVENTS.length);
		labels.forEach((label, i) => assert.ok(label.startsWith(EVENTS[i] + ': '), label));
		const boxes = await page.evaluate(() => Array.from(document.querySelectorAll('.switch rect')).map((r) => r.getBoundingClientRect().toJSON()));
		assert.ok(boxes.every((box, i) => box.y === boxes[0].y && (!i || box.x >= boxes[i - 1].x + boxes[i - 1].width)), 'a row of buttons');
		for (let i = EVENTS.length - 1; i >= 0; i--) {
			await page.locator('.switch').nth(i).click();
			assert.deepStrictEqual(await shown(page), [i]);
		}
	},

	async 'the file is as high as what is shown'(page) {
		for (let i = 0; i < EVENTS.length; i++) {
			await page.keyboard.press(String(i + 1));
			assert.deepStrictEqual(await shown(page), [i]);
			const rest = await page.evaluate((index) => {
				const part = document.querySelectorAll('.part')[index];
				return +document.documentElement.getAttribute('height') - part.getAttribute('y') - part.getAttribute('height');
			}, i);
			assert.strictEqual(rest, 0);
		}
		await page.keyboard.press('9');
		assert.deepStrictEqual(await shown(page), [EVENTS.length - 1]);
		await page.keyboard.press('1');
	},

	async 'each has its own zoom'(page) {
		await clickFrame(page, 0, 'work');
		assert.ok(await zoomed(page, 0) > 0);
		await page.keyboard.press('2');
		assert.strictEqual(await zoomed(page, 1), 0);
		await page.keyboard.press('Escape');    // of the second, which is not zoomed
		assert.ok(await zoomed(page, 0) > 0);
		await page.keyboard.press('1');
		await page.keyboard.press('Escape');
		assert.strictEqual(await zoomed(page, 0), 0);
	},

	async 'digits in the field are text'(page) {
		await page.keyboard.press('/');
		await page.keyboard.type('2');
		assert.deepStrictEqual(await shown(page), [0]);
		assert.strictEqual(await page.evaluate(() => document.activeElement.value), '2');
		await page.keyboard.press('Escape');
		assert.strictEqual(await page.evaluate(() => (document.activeElement || {}).localName === 'input'), false);
	},
};

// Without scripts all drawings are there, one below the other, each below its name.
async function withoutScripts(_, browser) {
	const context = await browser.newContext({javaScriptEnabled: false, viewport: {width: 1220, height: 1200}});
	const page = await context.newPage();

	await page.goto(addressOf(svg));
	await page.screenshot({path: path.join(directory, 'events-plain.png')});
	const tops = [];
	for (let i = 0; i < EVENTS.length; i++) {
		const heading = await page.locator('.switch').nth(i).boundingBox(), part = await page.locator('.part').nth(i).boundingBox();
		assert.ok(heading.y + heading.height <= part.y + 1, 'the name is above');
		tops.push(heading.y, part.y + part.height);
	}
	assert.deepStrictEqual(tops, [...tops].sort((a, b) => a - b), 'nothing overlaps');
	await context.close();
}

check({browserPath, file: svg, directory, viewport: {width: 1220, height: 700}, name: 'events-failed',
	tests: {...tests, 'without scripts': withoutScripts},
	ends: async (page) => {
		await page.keyboard.press('2');
		await page.screenshot({path: path.join(directory, 'events.png')});
	}});

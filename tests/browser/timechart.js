// SPDX-License-Identifier: BSD-2-Clause
// A time chart of the trigger program "phases" in a browser: what rows tell, zoom, keys, hostile names.
// Usage: timechart.js CHROMIUM SVG DIRECTORY (for screenshots)
'use strict';
const assert = require('node:assert');
const path = require('node:path');
const {check} = require('./checks.js');

const [browserPath, svg, directory] = process.argv.slice(2);
const NAME = '<b>&";]]>\\x1b[';

const said = (page) => page.textContent('#said');
const shown = (page) => page.evaluate(() =>
	document.querySelector('svg.r').getAttribute('viewBox').split(' ').map(Number));

// Where the plot is: to the right of names, as long as they are.
const plot = (page) => page.evaluate(() => {
	const d = document.documentElement.dataset;
	return {left: +d.left, right: +d.left + +d.plot};
});

// The row of the task, on the screen, and what it says from left to right.
async function row(page) {
	return page.evaluate((name) => {
		const found = Array.from(document.querySelectorAll('svg.r')).find((each) =>
			each.dataset.name.startsWith(name));
		const box = found.getBoundingClientRect();
		return {x: box.x, y: box.y + box.height / 2, width: box.width};
	}, NAME);
}

async function tellAll(page) {
	const r = await row(page), told = [];
	for (let x = 5; x < r.width; x += 10) {
		await page.mouse.move(r.x + x, r.y);
		told.push(await said(page));
	}
	return told;
}

const tests = {
	async 'each place tells its numbers'(page) {
		const told = await tellAll(page);
		assert.ok(told.every((text) => text.startsWith(NAME)), told[0]);
		const busy = told.map((text) => {
			const n = text.match(/runs (\d+) %, waits (\d+) %, blocked (\d+) %/).slice(1).map(Number);
			return n[0] + n[1];
		});
		// It computes for half of the time, in phases.
		assert.ok(busy.filter((n) => n > 95).length > busy.length / 4, busy.join());
		assert.ok(busy.filter((n) => n < 5).length > busy.length / 8, busy.join());
	},

	async 'hostile names are text'(page) {
		assert.strictEqual(await page.locator('svg b').count(), 0);
		assert.strictEqual(await page.locator('script').count(), 1);
		assert.ok((await page.textContent('svg')).includes(NAME));
	},

	async 'drag zooms, Esc shows all'(page) {
		const before = await shown(page), r = await row(page), {left, right} = await plot(page);
		await page.mouse.move((left + right) / 2, r.y);
		await page.mouse.down();
		await page.mouse.move(right, r.y, {steps: 4});
		await page.mouse.up();
		const after = await shown(page);
		assert.ok(Math.abs(after[0] - before[2] / 2) < 2 && Math.abs(after[2] - before[2] / 2) < 2,
			after.join(' '));
		assert.ok(await page.isVisible('#reset'));
		await page.screenshot({path: path.join(directory, 'timechart-zoomed.png')});
		await page.keyboard.press('Escape');
		assert.deepStrictEqual(await shown(page), before);
		assert.ok(!await page.isVisible('#reset'));
	},

	async 'arrows zoom and move within the run'(page) {
		const before = await shown(page);
		await page.keyboard.press('ArrowUp');
		const near = await shown(page);
		assert.strictEqual(near[2], before[2] / 2);
		await page.keyboard.press('ArrowRight');
		assert.ok((await shown(page))[0] > near[0]);
		for (let i = 0; i < 9; i++)
			await page.keyboard.press('ArrowRight');
		const last = await shown(page);
		assert.strictEqual(last[0] + last[2], before[2]);
		await page.click('#reset');
		assert.deepStrictEqual(await shown(page), before);
	},

	async 'a CPU tells who had it'(page) {
		const r = await row(page);
		const cpu = await page.evaluate(() => {
			const box = document.querySelector('svg.r').getBoundingClientRect();
			return box.y + box.height / 2;
		});
		const told = [];
		for (let x = 5; x < r.width; x += 10) {
			await page.mouse.move(r.x + x, cpu);
			told.push(await said(page));
		}
		assert.ok(told.some((text) => /^CPU 0, .*: busy \d+ %, most: /.test(text) &&
			text.includes(NAME)), told.join('\n'));
	},
};

check({browserPath, file: svg, directory, viewport: {width: 1220, height: 860}, name: 'timechart-failed', tests,
	begins: (page) => page.screenshot({path: path.join(directory, 'timechart.png')})});

// SPDX-License-Identifier: BSD-2-Clause
// A heat map of the trigger program "reads" under two hostile names, and a comparison of two runs as
// a flame graph. Usage: heat.js CHROMIUM HEAT.svg EVENTS DIFF.svg DIRECTORY (for screenshots)
'use strict';
const assert = require('node:assert');
const path = require('node:path');
const {addressOf, check} = require('./checks.js');

const [browserPath, heat, events, diff, directory] = process.argv.slice(2);
const NAMES = ['<b>&";]]>\\x1b', '</svg>'];

const cells = (page) => page.evaluate(() => Array.from(document.querySelectorAll('.c rect'), (rect) => {
	const [values, time, count] = rect.querySelector('title').textContent.split('\n');
	const box = rect.getBBox();
	return {values, time, count: +count.split(' ')[0].replace(/,/g, ''), shade: rect.className.baseVal,
		x: box.x, y: box.y, right: box.x + box.width, bottom: box.y + box.height};
}));
const count = (list) => list.reduce((sum, cell) => sum + cell.count, 0);

const tests = {
	async 'cells add up'(page) {
		assert.strictEqual(count(await cells(page)), +events);
	},

	async 'cells are inside of their maps, in rows of their own'(page) {
		const plots = await page.evaluate(() => Array.from(document.querySelectorAll('rect.p'), (rect) => {
			const b = rect.getBBox();
			return {x: b.x, y: b.y, right: b.x + b.width, bottom: b.y + b.height};
		}));
		const list = await cells(page), rows = new Map();
		assert.strictEqual(plots.length, 2);
		for (const c of list) {
			const plot = plots.findIndex((p) => c.x >= p.x - 0.1 && c.right <= p.right + 0.1 &&
				c.y >= p.y - 0.1 && c.bottom <= p.bottom + 0.1);
			assert.ok(plot >= 0, JSON.stringify(c));
			const row = `${plot} ${c.values}`;
			assert.ok(!rows.has(row) || rows.get(row) === c.y, row);
			rows.set(row, c.y);
		}
		assert.strictEqual(rows.size, 6);
	},

	async 'texts do not stand on each other'(page) {
		const boxes = await page.evaluate(() => Array.from(document.querySelectorAll('text'), (text) => {
			const b = text.getBBox();
			return {text: text.textContent, x: b.x, y: b.y, w: b.width, h: b.height};
		}).filter((b) => b.w));
		for (const [i, a] of boxes.entries()) {
			for (const b of boxes.slice(i + 1))
				assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y + 2 || b.y + b.h <= a.y + 2,
					`'${a.text}' and '${b.text}'`);
		}
	},

	async 'the strongest shade is the largest count'(page) {
		const list = (await cells(page)).sort((a, b) => a.count - b.count);
		assert.strictEqual(list[list.length - 1].shade, 's8');
		for (let i = 1; i < list.length; i++)
			assert.ok(list[i - 1].shade <= list[i].shade);
	},

	async 'hostile names are text'(page) {
		const text = await page.textContent('svg');
		for (const name of NAMES)
			assert.ok(text.includes(`comm ${name}: `), name);
		assert.strictEqual(await page.locator('svg b, script').count(), 0);
	},

	async 'a comparison tells both numbers'(page) {
		await page.goto(addressOf(diff));
		const all = await page.evaluate(() => document.querySelector('#plot > g title').textContent);
		assert.match(all, /^all\n250 events, 100\.00%\nbefore: 100 events, 100\.00%; \+0\.00 points$/);
		await page.mouse.move(600, await page.evaluate(() =>
			document.querySelector('#plot > g rect').getBBox().y + 8));
		assert.match(await page.textContent('#said'), /before: 100 events/);
	},
};

check({browserPath, file: heat, directory, viewport: {width: 1220, height: 860}, name: 'heat-failed', tests,
	begins: (page) => page.screenshot({path: path.join(directory, 'heat.png')}),
	ends: (page) => page.screenshot({path: path.join(directory, 'diff.png')})});

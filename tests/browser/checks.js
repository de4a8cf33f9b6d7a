// SPDX-License-Identifier: BSD-2-Clause
// What the browser tests share: one page in Chromium, on which tests run one after the other. Each test sees the page as the one
// before left it. An error of the page, a message to its console or a dialog fails the last test, 'no errors'.
'use strict';
const assert = require('node:assert');
const path = require('node:path');
const {chromium} = require('playwright-core');

const addressOf = (file) => 'file://' + path.resolve(file);

// browserPath, file, directory (for screenshots), viewport
// tests      name -> async function (page, browser)
// name       of the screenshot of a test that fails: NAME-1.png
// opened     called with the page before it loads the file
// begins, ends   called with the page before the first test, and after the last one
async function check({browserPath, file, directory, viewport, tests, name, opened, begins, ends}) {
	const browser = await chromium.launch({executablePath: browserPath, args: ['--no-sandbox']});
	const page = await browser.newPage({viewport});
	const problems = [];
	let failed = 0, passed = 0;

	page.on('pageerror', (error) => problems.push(error.message));
	page.on('console', (message) => problems.push(message.text()));
	page.on('dialog', (dialog) => problems.push('dialog: ' + dialog.message()));
	if (opened) opened(page);
	await page.goto(addressOf(file));
	if (begins) await begins(page);
	for (const [title, test] of Object.entries({...tests, 'no errors': () => assert.deepStrictEqual(problems, [])})) {
		try {
			await test(page, browser);
			passed++;
		} catch (error) {
			failed++;
			console.log(`not ok: ${title}: ${error.message}`);
			await page.screenshot({path: path.join(directory, `${name}-${failed}.png`)});
		}
	}
	if (ends) await ends(page);
	await browser.close();
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed ? 1 : 0;
}

module.exports = {addressOf, check};

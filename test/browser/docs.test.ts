import { expect, test } from 'vitest';
import { sandboxKey, startApi } from '../support/start-api.ts';
import { describeInBrowser } from './browser-fixture.ts';

describeInBrowser('the documentation in a browser', browser => {
  test('shows all of the API, and has it answer with a key', async () => {
    const server = await startApi();
    const page = await browser().newPage();
    try {
      const complaints: string[] = [];
      page.on('console', message => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', error => complaints.push(error.message));
      await page.goto(`${server.baseUrl}/docs`);
      await page.waitForSelector('.opblock-tag');
      const headings = await page.locator('.opblock-tag').all();
      const shown = await Promise.all(headings.map(heading => heading.getAttribute('data-tag')));
      const tags = (server.api.document().tags as { name: string }[]).map(({ name }) => name);
      expect(shown).toEqual(tags);

      await page.click('.authorize');
      await page.locator('#auth-basic-username:focus').waitFor();
      await page.fill('#auth-basic-username', sandboxKey);
      await page
        .locator('.auth-container', { has: page.locator('#auth-basic-username') })
        .locator('.authorize')
        .click();
      await page.click('.btn-done');
      await page.click('.opblock-tag[data-tag="Videos"]');
      const operation = page.locator('#operations-Videos-get-videos');
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.try-out__btn').click();
      await operation.locator('.execute').click();
      const status = operation.locator('.live-responses-table .response-col_status').last();
      await status.waitFor();
      expect(await status.innerText()).toMatch(/^200/);
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
      await server.stop();
    }
  });
});

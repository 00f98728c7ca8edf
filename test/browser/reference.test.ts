import { expect } from 'chai';
import { launch, type Browser, type Page } from 'puppeteer-core';
import { findBrowser } from '../support/browser/find-browser.ts';
import { sharedService, type TestService } from '../support/service.ts';

/** A browser starts within seconds; the page is drawn out of a bundle of two megabytes. */
const BROWSER_MS_MAX = 60_000;
const STEP_MS_MAX = 20_000;
const CALLER = '#operations-Account-getCaller';

describe('the interactive reference (§5.9, §9.6)', function () {
  this.timeout(2 * BROWSER_MS_MAX);
  let service: TestService;
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const complaints: string[] = [];

  before(async () => {
    service = await sharedService();
    const executablePath = findBrowser();
    if (executablePath === undefined) throw new Error('there is no browser; run npm run setup:browser');
    // Root has no sandbox of the browser; it sees pages of ours only.
    browser = await launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: BROWSER_MS_MAX });
    page = await browser.newPage();
    page.setDefaultTimeout(STEP_MS_MAX);
    page.on('request', (request) => requested.push(request.url()));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${service.baseUrl}/reference`);
  });
  after(() => browser.close());

  it('takes a key, tries GET /me with it and shows the answer', async () => {
    await click('.auth-wrapper .authorize');
    await page.locator('.auth-container input').fill(service.liveKey);
    await click('.auth-btn-wrapper .authorize');
    await click('.auth-btn-wrapper .btn-done');
    await click(`${CALLER} .opblock-summary-control`);
    await click(`${CALLER} .try-out__btn`);
    await click(`${CALLER} .execute`);
    const answer = await page.waitForSelector(`${CALLER} .live-responses-table .response`);
    const text = await answer?.evaluate((element) => element.textContent);
    expect(text).to.match(/^200/);
    expect(text).to.include(service.organizationId);
  });

  it('forgets the key with the page', async () => {
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).not.to.include(service.liveKey);
  });

  it('loads nothing from elsewhere, and its policy stands in the way of nothing it needs', () => {
    expect(requested.filter((url) => !url.startsWith(service.baseUrl) && !url.startsWith('data:'))).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  function click(selector: string): Promise<void> {
    return page.locator(selector).click();
  }
});

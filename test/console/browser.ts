import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../support/programs.js';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

export function launchBrowser(): Promise<Browser> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) throw new Error('chromium is not installed');
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A tab with the console, which fails the test where it loads anything from elsewhere or reports an error. */
export async function openPage(
  browser: Browser,
  url: string,
  options: {
    readonly width?: number;
    readonly height?: number;
    readonly dark?: boolean;
  } = {},
): Promise<Page & { problems: string[] }> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 860 },
    colorScheme: options.dark === true ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const { origin } = new URL(url);
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) problems.push(`loads ${request.url()}`);
  });
  page.on('console', (message) => {
    if (/Content.Security.Policy|Trusted/i.test(message.text())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(url);
  return Object.assign(page, { problems });
}

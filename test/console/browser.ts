import { mkdirSync } from 'node:fs';
import path from 'node:path';
import AxeSource from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
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

/** Pictures of each view for the documentation: PORTCULLIS_PICTURES=1 npm test -- test/console */
const PICTURES = path.resolve(import.meta.dirname, '../../docs/pictures');

export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PORTCULLIS_PICTURES !== '1') return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `console-${name}.png`) });
}

/** Fails for faults that keep a person from using the view. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(`${AxeSource.source}; 0`);
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] }).then((r) => r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 200)).join(' | ')))`,
  )) as string[];
  expect(found).toEqual([]);
}

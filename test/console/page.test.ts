import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../e2e/terminal.js';
import { describeWith } from '../support/programs.js';
import { expectAccessible, launchBrowser, openPage, picture } from './browser.js';
import { type RunningConsole, startConsole } from './console.js';

let browser: Browser;
const open: (Terminal | RunningConsole)[] = [];

describeWith(['tmux', 'chromium'], 'the page of the console', () => {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const one of open.splice(0).reverse()) await one.close();
  });
  afterAll(async () => {
    await browser.close();
  });

  async function setUp(options: Parameters<typeof openTerminal>[0]) {
    const tty = await openTerminal(options);
    open.push(tty);
    const served = await startConsole(tty.project.home);
    open.push(served);
    await tty.shows(/> |Answer \[/);
    return { tty, served };
  }

  const bash = (command: string, description = 'x') => ({
    tool: 'Bash',
    input: { command, description },
  });

  it('answers in the inbox while a terminal waits, and is told when the terminal was faster', async () => {
    const { tty, served } = await setUp({
      script: [
        bash('touch one.txt && git status --short', 'Make a file'),
        { tool: 'Read', input: { file_path: 'app.js' } },
        {
          tool: 'Edit',
          input: {
            file_path: 'app.js',
            old_string: 'const port = 80;',
            new_string: 'const port = 8080;',
          },
        },
        'Done with both.',
      ],
      files: {
        'app.js':
          'const http = require("http");\nconst port = 80;\nhttp.createServer().listen(port);\n',
      },
    });
    const page = await openPage(browser, served.url);
    expect(page.url()).not.toContain(served.token);
    await page.getByText('Nothing waits for you').waitFor();
    tty.line('make a file, then change the port');
    await page.getByRole('heading', { name: 'Bash wants to run' }).waitFor();
    expect(await page.locator('.question').textContent()).toContain('touch one.txt');
    await page.getByText('How the gate sees it').click();
    await page.getByText('Command as understood').waitFor();
    await expectAccessible(page);
    await picture(page, 'inbox');
    await page.getByRole('button', { name: 'Yes, this once' }).click();
    await page.getByText('Answered.').waitFor();
    await page.getByRole('heading', { name: 'Edit wants to run' }).waitFor();
    expect(tty.project.exists('one.txt')).toBe(true);
    expect(await page.locator('.diff').textContent()).toContain('+const port = 8080;');
    await picture(page, 'inbox-diff');
    await tty.shows(/Answer \[y\/a\/e/);
    tty.line('y');
    await tty.shows('Done with both.');
    await page.getByText('Nothing waits for you').waitFor();
    expect(tty.project.read('app.js')).toContain('8080');
    await page.getByRole('link', { name: 'receipt' }).first().waitFor();
    expect(await page.locator('table').textContent()).toMatch(/console \(\w+\)/);
    expect(page.problems).toEqual([]);
  });

  it('streams a transcript; a reload in the middle and a second tab show everything once', async () => {
    const long = Array.from({ length: 40 }, (_, i) => `Line ${i} of the answer.`).join('\n');
    const { tty, served } = await setUp({
      script: [long, 'A second answer.', 'A second answer.'],
      slowly: { bytes: 120, ms: 150 },
    });
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.locator('.session').click();
    await page.getByLabel('Prompt').fill('tell me a lot');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Line 3 of the answer.').waitFor();
    expect(await page.locator('.transcript').textContent()).not.toContain('Line 39');
    await picture(page, 'streaming');
    await page.reload();
    await page.getByText('Line 39 of the answer.').waitFor();
    const second = await openPage(browser, served.url);
    await second.goto(`${served.origin}/${new URL(page.url()).hash}`);
    await second.getByText('Line 39 of the answer.').waitFor();
    await second.getByLabel('Prompt').fill('and again');
    await second.getByRole('button', { name: 'Send' }).click();
    for (const tab of [page, second]) {
      await tab.getByText('A second answer.').waitFor();
      await tab.getByText('Turn ended').nth(1).waitFor();
      const text = (await tab.locator('.transcript').textContent()) ?? '';
      for (const once of [
        'Line 0 of',
        'Line 39 of',
        'tell me a lot',
        'and again',
        'A second answer.',
      ]) {
        expect(text.split(once).length - 1, once).toBe(1);
      }
    }
    await tty.shows('A second answer.');
    await picture(second, 'second-tab');
    tty.line('say it again');
    await page.getByText('A second answer.').nth(1).waitFor();
    expect(await page.getByText('A second answer.').count()).toBe(2);
    await expectAccessible(page);
    expect([...page.problems, ...second.problems]).toEqual([]);
  });

  it('changes mode, interrupts, and survives that the server is killed and started again', async () => {
    const { tty, served } = await setUp({
      script: [bash('sleep 30; touch late.txt'), 'Never said.'],
    });
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.locator('.session').click();
    await page.getByLabel('Mode', { exact: true }).selectOption('plan');
    await page.getByText('Mode: plan').waitFor();
    await page.getByLabel('Mode', { exact: true }).selectOption('default');
    await page.getByText('Mode: default').waitFor();
    tty.line('sleep');
    await page.getByText('needs you').waitFor();
    await served.close('SIGKILL');
    await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
    await picture(page, 'lost');
    await tty.shows('Allow Bash');
    const again = await startConsole(tty.project.home, ['--port', String(served.port)]);
    open.push(again);
    await page.getByRole('heading', { name: 'Portcullis' }).waitFor();
    const fresh = await openPage(browser, again.url);
    await fresh.getByRole('button', { name: 'Yes, this once' }).click();
    await fresh.getByRole('link', { name: 'Sessions' }).click();
    await fresh.locator('.session').click();
    await fresh.locator('.item.tool .badge', { hasText: 'running' }).waitFor();
    await picture(fresh, 'restarted');
    await fresh.getByRole('button', { name: 'Interrupt' }).click();
    await fresh.getByText('interrupted', { exact: false }).first().waitFor();
    expect(tty.project.exists('late.txt')).toBe(false);
    expect(fresh.problems).toEqual([]);
  });

  it('takes back a deletion by Bash, verifies the chain, and plots what the session cost', async () => {
    const { tty, served } = await setUp({
      script: [
        {
          ...bash('rm notes.txt', 'Clean up'),
          usage: { input_tokens: 18_400, output_tokens: 310 },
        },
        { text: 'It is gone.', usage: { input_tokens: 19_100, output_tokens: 120 } },
        { text: 'You are welcome.', usage: { input_tokens: 19_900, output_tokens: 940 } },
      ],
      files: { 'notes.txt': 'remember the milk\n' },
      args: ['--allowedTools', 'Bash(rm *)'],
    });
    tty.line('delete the notes');
    await tty.shows('It is gone.');
    expect(tty.project.exists('notes.txt')).toBe(false);
    // Two turns at different times make a line of the plot.
    await pause(1_200);
    tty.line('thank you');
    await tty.shows('You are welcome.');
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await picture(page, 'sessions');
    await page.locator('.session').click();
    await page.getByText('You are welcome.').waitFor();
    await picture(page, 'session');
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.locator('.change', { hasText: 'notes.txt' }).locator('summary').click();
    await page.locator('.diff').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Rewind to before this' }).last().click();
    await page.getByText('Will be restored (1)').waitFor();
    await picture(page, 'rewind');
    await page.getByRole('button', { name: 'Restore these files' }).click();
    await page.getByText('Restored 1 file').waitFor();
    expect(tty.project.read('notes.txt')).toBe('remember the milk\n');
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByRole('tab', { name: 'Receipts' }).click();
    await page.locator('.receipt-row').waitFor();
    await page.getByRole('button', { name: 'Verify chain' }).click();
    await page.getByText('chain is whole, 1 line').waitFor();
    await expectAccessible(page);
    await picture(page, 'receipts');
    await page.locator('.receipt-row').click();
    await page.getByRole('heading', { name: 'Guards' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Agents and money' }).click();
    await page.getByRole('img', { name: /Cost over time\. claude-opus-5-5: \$/ }).waitFor();
    await expectAccessible(page);
    await picture(page, 'money');
    expect(page.problems).toEqual([]);
  });

  it('shows what is spent, reserved for the running call, and left of a budget', async () => {
    const { tty, served } = await setUp({
      script: [
        { text: 'First.', usage: { input_tokens: 20_000, output_tokens: 400 } },
        'word '.repeat(2_000),
      ],
      files: { '.claude/settings.json': JSON.stringify({ portcullis: { budget: { usd: 5 } } }) },
      slowly: { bytes: 200, ms: 100 },
    });
    tty.line('begin');
    await tty.shows('First.');
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.locator('.session').click();
    await page.getByRole('tab', { name: 'Agents and money' }).click();
    const cells = page.locator('tbody tr').first().locator('td');
    await cells
      .nth(5)
      .getByText(/^\$0\.\d+$/)
      .waitFor();
    expect(await cells.nth(6).textContent()).toBe('$0');
    tty.line('tell me a lot');
    await cells
      .nth(6)
      .getByText(/^\$\d+\.\d+$/)
      .waitFor();
    await cells
      .nth(7)
      .getByText(/^\$4\.\d+/)
      .waitFor();
    await expectAccessible(page);
    await picture(page, 'budget');
    expect(page.problems).toEqual([]);
  });

  it('explains a call, marks shadowed rules, replays a changed policy, and shows what a folder would run', async () => {
    const { tty, served } = await setUp({
      script: [bash('git push origin main', 'Push'), 'Pushed.'],
      files: {
        '.claude/settings.json': JSON.stringify({
          permissions: {
            allow: ['Bash(git status)', 'WebFetch'],
            deny: ['WebFetch', 'Read(./.env)'],
          },
          hooks: {
            PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }],
          },
        }),
      },
      args: ['--trust', '--allowedTools', 'Bash(git push *)'],
    });
    tty.line('push it');
    await tty.shows('Pushed.');
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Policy' }).click();
    await page.getByLabel('Call').fill('Read .env');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.verdict .badge', { hasText: 'deny' }).waitFor();
    expect(await page.locator('.verdict').textContent()).toContain('Read(./.env)');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('recorded calls would be decided differently').waitFor();
    expect(await page.locator('form').last().textContent()).toContain('Bash(git push origin main)');
    await expectAccessible(page);
    await picture(page, 'policy');
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.getByRole('button', { name: 'Trust this folder' }).click();
    await page.getByText('You trust what is listed here').waitFor();
    await expectAccessible(page);
    await picture(page, 'trust');
    await page.getByRole('link', { name: 'Policy' }).click();
    await page.locator('.badge', { hasText: 'shadowed' }).waitFor();
    expect(page.problems).toEqual([]);
  });

  it('shows hostile text as text in receipts, policy and trust, and marks failed hooks in their lanes', async () => {
    const tag = '<img src=x onerror="document.body.dataset.hacked=1">';
    // Rules with invisible characters stop the start, so they cannot reach the page.
    const hostile = `${tag}\u001b[2J\u001b]0;t\u0007\u202e`;
    const hooks = [
      { type: 'command', command: 'true' },
      { type: 'command', command: `exit 1 # ${hostile}` },
    ];
    const { tty, served } = await setUp({
      script: [
        { tool: 'Read', input: { file_path: hostile } },
        bash(`echo '${hostile}'`, hostile),
        'Both are done.',
      ],
      files: {
        '.claude/settings.json': JSON.stringify({
          permissions: { allow: [`Bash(${tag})`], deny: [`Read(./${tag}*)`] },
          hooks: { PreToolUse: [{ matcher: 'Bash|Read', hooks }] },
          disabledMcpjsonServers: ['evil'],
        }),
        '.mcp.json': JSON.stringify({
          mcpServers: { evil: { command: 'sh', args: ['-c', hostile] } },
        }),
      },
      args: ['--trust', '--allowedTools', 'Bash(echo *)'],
    });
    tty.line('go');
    await tty.shows('Answer [y/n]');
    tty.line('y');
    await tty.shows('Both are done.');
    const page = await openPage(browser, served.url);
    const expectText = async (selector: string): Promise<void> => {
      const text = (await page.locator(selector).textContent()) ?? '';
      expect(text).toContain('<img src=x onerror=');
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
      expect(await page.locator('img:not([src="/icon.svg"])').count()).toBe(0);
      expect(await page.evaluate('document.body.dataset.hacked')).toBeUndefined();
    };
    await page.getByRole('link', { name: 'Receipts' }).click();
    await page.locator('.receipt-row').nth(1).waitFor();
    await expectText('.rows');
    await expectText('.plot svg');
    expect(await page.locator('rect.run').count()).toBe(4);
    const failed = page.locator('rect.run.failed');
    expect(await failed.count()).toBe(2);
    expect(await failed.first().textContent()).toContain('exit');
    await expectAccessible(page);
    await picture(page, 'lanes');
    for (const row of [0, 1]) {
      await page.locator('.receipt-row').nth(row).click();
      await page.getByRole('heading', { name: 'Guards' }).waitFor();
      await expectText('dialog');
      await page.keyboard.press('Escape');
    }
    await page.getByRole('link', { name: 'Policy' }).click();
    await page.getByLabel('Call').fill(`Read ${hostile}`);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.verdict .badge', { hasText: 'deny' }).waitFor();
    await page.locator('table', { hasText: 'settings.json' }).last().waitFor();
    await expectText('.explain');
    await expectText('.view > .scroll');
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.getByRole('heading', { name: 'MCP servers' }).waitFor();
    await expectText('.view');
    await page.getByRole('button', { name: 'Trust this folder' }).click();
    await page.getByText('You trust what is listed here').waitFor();
    await expectText('.view');
    expect(page.problems).toEqual([]);
  });

  it('starts a session in a folder, with trust asked on the page', async () => {
    const { tty, served: first } = await setUp({
      script: [bash('touch by-console.txt'), 'Made by the console.'],
      files: {
        '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(touch *)'] } }),
      },
    });
    await first.close();
    tty.line('n');
    await tty.exitCode();
    const env = { ANTHROPIC_BASE_URL: tty.server.url, ANTHROPIC_API_KEY: 'test-key' };
    const served = await startConsole(tty.project.home, [], env);
    open.push(served);
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByLabel('Folder').fill(tty.project.directory);
    await page.getByLabel('Prompt').fill('make a file');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Bash(touch *)').waitFor();
    await page.getByRole('button', { name: 'Trust and start' }).click();
    await page.locator('.session', { hasText: 'make a file' }).click();
    await page.getByText('Made by the console.').waitFor();
    expect(tty.project.exists('by-console.txt')).toBe(true);
    expect(page.problems).toEqual([]);
  });

  it('fits a phone, and works in the dark and with the keyboard alone', async () => {
    const { tty, served } = await setUp({ script: [bash('touch x.txt', 'Make a file'), 'Done.'] });
    tty.line('make a file');
    await tty.shows('Allow Bash');
    const page = await openPage(browser, served.url, { width: 390, height: 844, dark: true });
    await page.getByRole('heading', { name: 'Bash wants to run' }).waitFor();
    await expectAccessible(page);
    await picture(page, 'phone');
    for (const view of ['sessions', 'receipts', 'policy', 'folder', 'inbox']) {
      await page.goto(`${served.origin}/#/${view}`);
      await page.locator('h1').waitFor();
      await pause(300);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, view).toBeLessThanOrEqual(390);
      await expectAccessible(page);
    }
    // A new question takes no answer for half a second, and a key does not wait for that.
    await page.locator('button:enabled', { hasText: 'Yes, this once' }).press('Enter');
    await page.getByText('Answered.').waitFor();
    await tty.shows('Done.');
    expect(page.problems).toEqual([]);
  });
});

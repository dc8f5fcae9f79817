import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseArgs } from '../../cli/args.js';
import { FLAGS } from '../../cli/flags.js';
import type { SessionConfig } from '../../config/session-config.js';
import type { HostCallbacks } from '../../hooks/registry/host-callbacks.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { Duty } from './duty.js';
import { teamFiles } from './host/files.js';
import { openTeam } from './team.js';
import {
  type HeldHere,
  inheritedArguments,
  notApart,
  putLaunch,
  takeLaunch,
  teammateFlags,
} from './teammate-launch.js';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const BASE: SessionConfig = {
  cwd: '/',
  env: {},
  entrypoint: 'x',
  start: { kind: 'new', id: undefined },
  fork: false,
  persist: false,
  trust: true,
  emit: () => undefined,
};
const WHO = { team: 'session-1', name: 'ann', agentId: 'a1', leadSessionId: 's' };

describe('the flags of a teammate', () => {
  it.each([
    ['default', false, ['--permission-mode', 'default']],
    ['acceptEdits', false, ['--permission-mode', 'acceptEdits']],
    ['bypassPermissions', false, ['--dangerously-skip-permissions']],
    ['bypassPermissions', true, ['--permission-mode', 'plan', '--plan-mode-required']],
    ['dontAsk', true, ['--permission-mode', 'plan', '--plan-mode-required']],
  ] as const)('of a lead in %s, plan required %s', (leadMode, planRequired, flags) => {
    const all = teammateFlags(WHO, { way: 'tmux', leadMode, planRequired });
    expect(all.slice(10)).toEqual(flags);
    expect(all.slice(0, 4)).toEqual(['--team-name', 'session-1', '--agent-name', 'ann']);
  });

  it('carry the bans of the lead, word for word', () => {
    const argv = inheritedArguments({
      ...BASE,
      disallowedTools: ['Bash(rm -rf *)', 'WebFetch'],
      tools: ['Read', 'Bash'],
      settings: '{"permissions":{"deny":["Read(./secret)"]}}',
      settingSources: [],
      strictMcpConfig: true,
    });
    const parsed = parseArgs(argv);
    if (!parsed.ok) throw new Error(parsed.error);
    const { values, switches } = parsed.value;
    expect(values.get('disallowedTools')).toEqual(['Bash(rm -rf *)', 'WebFetch']);
    expect(values.get('tools')).toEqual(['Read,Bash']);
    expect(values.get('settings')).toEqual(['{"permissions":{"deny":["Read(./secret)"]}}']);
    expect(values.get('setting-sources')).toEqual(['']);
    expect([...switches].sort()).toEqual(['no-session-persistence', 'strict-mcp-config', 'trust']);
  });

  it('carry the plugins of the lead, whose hooks judge calls', () => {
    const plugins = [{ directory: './p one' }, { directory: '/q', withoutServers: true }];
    const parsed = parseArgs(inheritedArguments({ ...BASE, plugins }));
    if (!parsed.ok) throw new Error(parsed.error);
    expect(parsed.value.values.get('plugin-dir')).toEqual(['./p one']);
    expect(parsed.value.values.get('plugin-dir-no-mcp')).toEqual(['/q']);
  });

  it('carry every flag that restricts, but for those that are handed over in another way', () => {
    const argv = inheritedArguments({
      ...BASE,
      disallowedTools: ['x'],
      tools: ['Read'],
      settings: '{}',
      managedSettings: '{}',
      settingSources: ['user'],
      strictMcpConfig: true,
      plugins: [{ directory: 'p' }, { directory: 'q', withoutServers: true }],
    });
    const carried = new Set(argv.map((one) => one.slice(2).split('=')[0]));
    const left = FLAGS.filter(({ restricts, notYet }) => restricts === true && notYet === undefined)
      .map(({ name }) => name)
      .filter((name) => !carried.has(name));
    expect(left.sort()).toEqual([
      // Refused: a shared budget needs a single process.
      'max-budget-usd',
      // Limits a single run of the lead, not its agents.
      'max-turns',
      // The mode is passed as a separate flag.
      'permission-mode',
      // For hosts that answer questions: those of teammates go to the lead.
      'permission-prompts',
      'plan-mode-required',
      'resume-drops-turn',
    ]);
  });
});

describe('a process of its own is refused', () => {
  const NOTHING = { hasBudget: false, skill: undefined };
  const runsAs = { name: 'guarded' } as AgentDefinition;
  it.each<readonly [string, Partial<SessionConfig>, Partial<HeldHere>, string]>([
    ['a budget by a flag', { maxBudgetUsd: 1 }, {}, 'budget'],
    ['a budget', {}, { hasBudget: true }, 'budget'],
    ['an agent that the lead runs as', { runsAs }, {}, 'agent guarded'],
    ['guards of a host', { callbacks: {} as HostCallbacks }, {}, 'guards of the host'],
    ['files that may grant nothing', { ignoreFileGrants: true }, {}, 'grant nothing'],
    ['a skill that holds back', {}, { skill: 'careful' }, 'skill careful'],
  ])('where it would not be held to %s', (_what, config, held, words) => {
    expect(notApart({ ...BASE, ...config }, { ...NOTHING, ...held })).toContain(words);
  });

  it('for no other reason', () => {
    expect(notApart(BASE, NOTHING)).toBeUndefined();
  });
});

describe('what the lead leaves for a process', () => {
  it('is taken once, by the one that is meant', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'team-launch-'));
    roots.push(root);
    const opened = openTeam(root, 'session-1');
    if (!opened.ok) throw new Error(opened.error);
    const team = opened.value;
    const process = teamFiles.self();
    await team.create({ sessionId: 's', cwd: root, process }, 1);
    await team.join({
      ...WHO,
      agentType: 'x',
      description: 'x',
      way: 'tmux',
      state: 'starting',
      planRequired: false,
      process,
      model: 'm',
      cwd: root,
      joinedAt: 1,
    });
    const launch = {
      ...WHO,
      env: { KEY: 'secret' },
      args: [],
      sessionId: 'x',
      leadMode: 'default' as const,
      cwd: root,
    };
    const put = (): void => putLaunch(team, launch);
    put();
    expect(statSync(path.join(team.directory, 'launch/ann.json')).mode & 0o777).toBe(0o600);
    const take = (more: object) => takeLaunch(team, { ...WHO, ...more });
    expect(take({ leadSessionId: 'other' }).ok).toBe(false);
    expect(take({ agentId: 'a2' }).ok).toBe(false);
    expect(take({ name: '../ann' }).ok).toBe(false);
    expect(take({})).toMatchObject({ ok: true, value: { env: { KEY: 'secret' } } });
    expect(take({})).toMatchObject({ ok: false, error: 'the lead has not started ann' });
    put();
    await team.change('ann', (now) => ({ ...now, state: 'working' }));
    expect(take({})).toMatchObject({ ok: false, error: 'ann has been started already' });
  });
});

describe('the duty of a teammate', () => {
  it('is lifted by the lead alone, for the plan that was put to it', () => {
    const warnings: string[] = [];
    const duty = new Duty({
      name: 'ann',
      planRequired: true,
      leadMode: 'bypassPermissions',
      warn: (text) => void warnings.push(text),
    });
    const mail = {
      id: 'm0000000000000001',
      team: 't',
      to: 'ann',
      at: 1,
      kind: 'plan_approval_response',
      text: '',
      approve: true,
    } as const;
    expect(duty.onMail({ ...mail, from: 'team-lead', requestId: 'r1' })).toBe(false);
    duty.planRequest = 'r1';
    expect(duty.onMail({ ...mail, from: 'bob', requestId: 'r1' })).toBe(false);
    expect(duty.onMail({ ...mail, from: 'team-lead', requestId: 'r2' })).toBe(false);
    expect(duty.mode()).toBe('plan');
    expect(duty.onMail({ ...mail, from: 'team-lead', requestId: 'r1' })).toBe(true);
    expect(duty.mode()).toBe('default');
    expect(warnings).toHaveLength(3);
    expect(duty.onMail({ ...mail, kind: 'shutdown_request', from: 'bob', requestId: 'r3' })).toBe(
      false,
    );
  });

  it.each([
    ['acceptEdits', 'acceptEdits', 'acceptEdits'],
    ['acceptEdits', 'default', 'default'],
    ['acceptEdits', 'plan', 'plan'],
    ['default', 'acceptEdits', 'default'],
    ['bypassPermissions', 'bypassPermissions', 'default'],
    // An unknown mode of the lead is not taken as permissive.
    ['acceptEdits', undefined, 'default'],
  ] as const)('of a lead in %s, approved in %s, ends in %s', (leadMode, mode, after) => {
    const approved: string[] = [];
    const duty = new Duty({
      name: 'ann',
      planRequired: true,
      leadMode,
      approved: (now) => void approved.push(now),
      warn: () => undefined,
    });
    duty.planRequest = 'r1';
    duty.onMail({
      id: 'm0000000000000001',
      team: 't',
      from: 'team-lead',
      to: 'ann',
      at: 1,
      kind: 'plan_approval_response',
      text: '',
      requestId: 'r1',
      approve: true,
      mode,
    });
    expect([duty.mode(), ...approved]).toEqual([after, after]);
  });
});

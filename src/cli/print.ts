import type { AgentSession, SessionConfig } from '../app.js';
import { openSession } from '../app.js';
import type { CommandOutput, SessionEvent, Turn } from '../client/events.js';
import { replaced } from '../client/session-slot.js';
import { retryText, turnEnd } from '../client/turn-end.js';
import { TurnRunner } from '../client/turn-runner.js';
import { announceSession } from '../console/announce.js';
import { PortcullisError } from '../errors.js';
import type { FrameStream } from '../server/frame-stream.js';
import { encodeFrame, type Frame } from '../server/wire.js';
import { withDebug } from './debug.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import type { CliOptions } from './options.js';
import type { HostProcess, Output } from './output.js';
import { readPiped } from './stdin.js';

export interface PrintDeps {
  readonly options: CliOptions;
  readonly config: Omit<SessionConfig, 'emit' | 'asker'>;
  readonly output: Output;
  readonly host: HostProcess;
  uuid(): string;
  /** Called with the open session, so that signals can close it. */
  onOpen(session: AgentSession): void;
}

/** One prompt, one answer, an exit code that says how it went. */
export async function runPrint(deps: PrintDeps): Promise<number> {
  const { options, output } = deps;
  const piped = await readPiped(deps.host, {
    optional: options.prompt !== undefined,
    warn: output.warn,
  });
  const prompt = [options.prompt, piped]
    .filter((part) => part !== undefined && part !== '')
    .join('\n');
  if (prompt.trim() === '' && !options.initOnly) {
    throw new PortcullisError('usage', 'there is no prompt', {
      remedy: 'give one: portcullis -p "…", or pipe it in',
    });
  }
  const frames: Frame[] = [];
  const stream = await frameStream(deps, (frame) => {
    if (options.outputFormat === 'stream-json') output.out(encodeFrame(frame));
    else if (options.verbose || frame.type === 'result') frames.push(frame);
  });
  // fail-closed: what is piped in names no command and is no argument of one.
  const isTyped = piped === undefined || piped === '';
  // Loaded only for a prompt that may name a command.
  const commands =
    isTyped && /^\s*\//.test(prompt)
      ? (await import('../client/commands/complete.js')).slashCommands
      : undefined;
  const runner = new TurnRunner({
    env: deps.config.env,
    clock: { now: Date.now, uuid: deps.uuid },
    commands,
    prepareTurn: async (session) => await stream?.tellCommands(session),
    async open(ports, replacement) {
      const emit = withDebug(output, ports.emit);
      const config = { ...deps.config, emit, waitForBackground: true, mayDefer: true };
      const session = await openSession(replaced(config, replacement));
      deps.onOpen(session);
      return session;
    },
  });
  announceSession(runner, { kind: 'print', cwd: deps.config.cwd, env: deps.config.env });
  let last: Turn | undefined;
  let local: CommandOutput | undefined;
  stream?.follow(runner);
  runner.log.subscribe(({ event }) => {
    if (options.outputFormat !== 'stream-json') tellPerson(event, output);
    if (event.type === 'command_output') local = event.output;
    if (event.type === 'turn_finished' && event.turn.opening !== true) {
      last = event.turn.run;
      // The reports of agents are turns of their own, as long as all goes well.
      if (last.outcome.reason.kind !== 'completed') runner.stop();
    }
    if (event.type !== 'closing' || options.initOnly) return;
    if (options.outputFormat === 'text') output.answer(`${local?.text ?? answerText(last)}\n`);
    else if (options.outputFormat === 'json') {
      output.out(`${JSON.stringify(options.verbose ? frames : frames.at(-1))}\n`);
    }
    reportDenials(last?.denials ?? [], output);
  });
  try {
    if (options.initOnly) {
      const session = await runner.open();
      await stream?.begin(session);
      await session.begin();
      runner.stop();
    } else {
      // What is piped in beside a prompt is what the prompt is about.
      const typed = options.prompt ? { typed: options.prompt } : {};
      const content = [{ type: 'text' as const, text: prompt }];
      const message = { uuid: deps.uuid(), content, ...typed };
      const command = commands?.find(prompt) === undefined ? undefined : prompt;
      runner.push({ message, priority: 'next', named: false, command });
      runner.endInput();
    }
    await runner.run();
  } finally {
    stream?.end();
  }
  if (last === undefined) return local?.failed === true ? EXIT.error : EXIT.done;
  return exitCodeOf(last);
}

/** Writes the run as frames, where its output format has any. */
async function frameStream(
  { options, uuid }: PrintDeps,
  write: (frame: Frame) => void,
): Promise<FrameStream | undefined> {
  if (options.outputFormat === 'text') return undefined;
  const [{ FrameStream: Stream }, { createOutlet }] = await Promise.all([
    import('../server/frame-stream.js'),
    import('../server/outlet.js'),
  ]);
  return new Stream({
    outlet: createOutlet(write),
    firstId: '',
    headless: true,
    messages: {
      partialMessages: options.partialMessages && options.outputFormat === 'stream-json',
      replayPrompts: options.replayPrompts,
      stateChanges: false,
      decisions: options.decisions,
      hookEvents: options.hookEvents,
    },
    uuid,
  });
}

function answerText(run: Turn | undefined): string {
  if (run === undefined) return '';
  const { reason, text, display = text } = run.outcome;
  if (reason.kind === 'finished') return JSON.stringify(reason.structuredOutput);
  const { problem } = turnEnd(reason);
  if (problem === '') return display;
  const isWhole = reason.kind === 'model_failure' || reason.kind === 'prompt_blocked';
  return display === '' || isWhole ? problem : `${display}\n${problem}`;
}

/** A refused call is never silent: what, why, and the rule that would allow it. */
function reportDenials(denials: Turn['denials'], output: Output): void {
  for (const denial of denials) {
    const rule =
      denial.suggestion === undefined
        ? ''
        : `; to allow it: --allowedTools ${JSON.stringify(denial.suggestion)}`;
    output.warn(`refused: ${denial.tool_name} (${denial.reason ?? 'no reason given'})${rule}`);
  }
}

/** Standard output carries the answer alone; what went wrong on the way goes to standard error. */
function tellPerson(event: SessionEvent, output: Output): void {
  if (event.type === 'notice') {
    // The result already says that the prompt was blocked.
    if (event.level !== 'info' && event.tag !== 'prompt_blocked') output.warn(event.text);
  } else if (event.type === 'writes_lost')
    output.warn(`the transcript cannot be written: ${event.code}`);
  else if (event.type === 'retry') output.warn(retryText(event.event));
}

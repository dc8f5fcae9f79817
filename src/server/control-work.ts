import { Buffer } from 'node:buffer';
import { resolve } from 'node:path';
import { ACKNOWLEDGED, ControlError, type Handler, text } from './control-request.js';
import { MAX_FRAME_BYTES } from './wire.js';

/** Requests about background tasks, waiting prompts and files. */
export const WORK_HANDLERS: Readonly<Record<string, Handler>> = {
  async stop_task(handling, request) {
    const id = text(request, 'task_id');
    const isStopped = await (await handling.runner.session)?.requests.stopTask(id);
    if (isStopped !== true) throw new ControlError('not_found', `there is no task ${id}`);
    return ACKNOWLEDGED;
  },
  /** What runs in the foreground stays there: nothing of ours can be moved once it has begun. */
  background_tasks: () => ({ response: { backgrounded: false } }),
  async get_task_output(handling, request) {
    const id = text(request, 'task_id');
    const output = await (await handling.runner.session)?.requests.taskOutput(id);
    if (output === undefined) throw new ControlError('not_found', `there is no task ${id}`);
    const { text: shown, totalBytes, truncated } = output;
    return { response: { output: shown, total_bytes: totalBytes, truncated } };
  },
  cancel_async_message(handling, request) {
    const uuid = text(request, 'message_uuid');
    return { response: { cancelled: handling.runner.cancel(uuid) } };
  },
  async read_file(handling, request, { signal }) {
    const path = text(request, 'path');
    const { max_bytes: most, encoding } = request;
    const maxBytes =
      typeof most === 'number' && most > 0 ? Math.min(Math.floor(most), MOST_BYTES) : MOST_BYTES;
    const { requests } = await handling.open({});
    const read = await requests.readFile({ path, maxBytes }, signal);
    if (!read.ok) throw new ControlError('read_failed', read.error);
    const { absolutePath, bytes, truncated } = read.value;
    const common = { absPath: absolutePath, ...(truncated ? { truncated } : {}) };
    if (encoding === 'base64') {
      const contents = Buffer.from(bytes).toString('base64');
      return { response: { contents, ...common, encoding } };
    }
    const contents = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    const lossy = !Buffer.from(contents, 'utf8').equals(bytes);
    return { response: { contents, ...common, lossy } };
  },
  async seed_read_state(handling, request) {
    const path = text(request, 'path');
    const { mtime } = request;
    if (typeof mtime !== 'number') throw new ControlError('invalid_request', 'mtime is missing');
    await (await handling.open({})).requests.seedRead(path, mtime);
    return ACKNOWLEDGED;
  },
  async rewind_files(handling, request) {
    const messageId = text(request, 'user_message_id');
    const session = await handling.open({});
    const { changes } = session;
    const { cwd } = session.info();
    const journal = await changes.journal();
    if (journal === undefined) {
      throw new ControlError(
        'no_checkpoints',
        changes.off ?? 'no changes are kept in this session',
      );
    }
    const target = { kind: 'message', messageId } as const;
    if (request.dry_run === true) {
      const plan = await journal.preview(target);
      if ('why' in plan) throw new ControlError('cannot_rewind', plan.why);
      return { response: { canRewind: true, ...counts(plan, cwd), ...lists(plan) } };
    }
    const done = await journal.rewind(target);
    if (done.kind === 'refused') throw new ControlError('cannot_rewind', done.why);
    const { plan, failed } = done;
    return {
      response: { canRewind: true, skippedLinks: 0, ...counts(plan, cwd), ...lists(plan), failed },
    };
  },
};

/** Base64 grows by a third, and the answer must fit into one frame. */
const MOST_BYTES = Math.floor((MAX_FRAME_BYTES * 3) / 4) - 16_384;

type Journal = NonNullable<
  Awaited<ReturnType<Awaited<ReturnType<Parameters<Handler>[0]['open']>>['changes']['journal']>>
>;
type Plan = Exclude<Awaited<ReturnType<Journal['preview']>>, { readonly why: string }>;

/** What hosts know of it; they expect whole paths. */
function counts(
  { restored, insertions, deletions }: Plan,
  cwd: string,
): Readonly<Record<string, unknown>> {
  return { filesChanged: restored.map(({ path }) => resolve(cwd, path)), insertions, deletions };
}

/** What it leaves as it is, and what may still change it. */
function lists({ conflicts, impossible, stillRunning }: Plan): Readonly<Record<string, unknown>> {
  return {
    conflicts: conflicts.map(({ path, why }) => ({ path, why })),
    impossible,
    stillRunning,
  };
}

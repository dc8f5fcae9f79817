import type * as Sdk from '@dbos-inc/dbos-sdk';
import { PortcullisError } from '../../errors.js';
import type { Drive } from '../worker/drive.js';
import type { Engine } from '../worker/engine.js';
import type { Logger } from '../worker/metrics.js';

const SCHEMA = 'portcullis_dbos';
const CLOSE_MS = 5_000;

async function loadSdk(): Promise<typeof Sdk> {
  try {
    return await import('@dbos-inc/dbos-sdk');
  } catch (thrown) {
    throw new PortcullisError('config', 'the package @dbos-inc/dbos-sdk is not installed', {
      remedy: 'npm install pg @dbos-inc/dbos-sdk',
      cause: thrown,
    });
  }
}

/** Creates the tables of the engine, and lets workers use them. */
export async function migrateEngine(url: string): Promise<void> {
  const { DBOS } = await loadSdk();
  await DBOS.migrate(url, { schemaName: SCHEMA, applicationRole: 'portcullis_worker' });
}

/**
 * Each drive is a durable workflow of three steps whose id is `session:epoch`, so that it exists once however often it is
 * started. A worker that starts again finds no drive of its own: its sessions have a newer epoch then.
 */
export async function openDbosEngine(options: {
  readonly url: string;
  readonly worker: string;
  readonly log: Logger;
}): Promise<Engine> {
  const { DBOS } = await loadSdk();
  const drives = new Map<string, Drive>();
  const workflow = DBOS.registerWorkflow(
    async (id: string): Promise<string> => {
      const drive = drives.get(id);
      if (drive === undefined) return 'abandoned';
      await DBOS.runStep(() => drive.provision(), { name: 'provision' });
      const end = await DBOS.runStep(() => drive.drive(), { name: 'drive' });
      await DBOS.runStep(() => drive.release(end), { name: 'release' });
      return end.kind;
    },
    { name: 'drive' },
  );
  const { log } = options;
  const forward =
    (level: Parameters<Logger>[0]) =>
    (message: unknown): void => {
      const text = message instanceof Error ? message.message : String(message);
      log(level, text, { from: 'dbos' });
    };
  DBOS.setConfig({
    name: 'portcullis',
    systemDatabaseUrl: options.url,
    systemDatabaseSchemaName: SCHEMA,
    systemDatabasePoolSize: 5,
    runMigrations: false,
    executorID: options.worker,
    applicationVersion: 'portcullis',
    listenQueues: [],
    logger: {
      info: () => undefined,
      debug: () => undefined,
      warn: forward('warning'),
      error: forward('error'),
    },
  });
  await DBOS.launch();
  return {
    async execute(drive) {
      drives.set(drive.id, drive);
      try {
        const handle = await DBOS.startWorkflow(workflow, { workflowID: drive.id })(drive.id);
        await handle.getResult();
      } finally {
        drives.delete(drive.id);
      }
    },
    abandon: (id) => DBOS.cancelWorkflow(id),
    close: () => DBOS.shutdown({ workflowCompletionTimeoutMS: CLOSE_MS }),
  };
}

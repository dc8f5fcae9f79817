import { sha256 } from '../../env/hash.js';
import { nodeJournalFiles } from '../../env/journal-files.js';
import { findRepositoryRoot, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import type { JournalEntry } from '../../journal/entry.js';
import { journalDirectory } from '../../journal/journal.js';
import { journalFilesIn, type ReadJournal, readJournal } from '../../journal/read.js';
import { receiptText } from '../../project/receipt-text.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';

export const USAGE = 'portcullis why [last | tool use id] [--session id] [--verify] [--json]';

/** Prints how a call of this project was decided, from the journal. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'verify'],
    values: ['session'],
  });
  const journals = projectJournals(process.cwd(), process.env, values.get('session'));
  if (switches.has('verify')) return await verify(journals, output);
  const id = words[0] ?? 'last';
  const found = await find(journals, id);
  if (switches.has('json')) {
    const { entry, journal } = found;
    output.out(`${JSON.stringify({ ...entry, file: journal.file, chain: journal.chain })}\n`);
    return EXIT.done;
  }
  const { time, session, receipt } = found.entry;
  output.out(receiptText({ ...receipt, time, sessionId: session }));
  output.out(
    `\njournal: ${found.journal.file}, entry ${found.entry.n}${chainText(found.journal)}\n`,
  );
  return EXIT.done;
}

/** The journals of the project at or around a directory, the one written last first. */
export function projectJournals(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  session?: string,
): readonly string[] {
  const places = [cwd, findRepositoryRoot(cwd)].filter((place) => place !== undefined);
  const files = [...new Set(places)].flatMap((place) =>
    journalFilesIn(
      journalDirectory({ stateDirectory: stateDirectory(env), cwd: place }),
      nodeJournalFiles,
    ),
  );
  const wanted = files.filter((file) => session === undefined || nameOf(file).startsWith(session));
  if (wanted.length > 0) return wanted;
  const whose = session === undefined ? 'for this directory' : `of a session ${session}`;
  throw new PortcullisError('io', `there is no journal ${whose}`, {
    remedy: 'decisions are kept from the first tool call of a session that is itself kept',
  });
}

interface Found {
  readonly entry: JournalEntry;
  readonly journal: ReadJournal;
}

async function find(journals: readonly string[], id: string): Promise<Found> {
  const matches: Found[] = [];
  for (const file of journals) {
    const journal = await readJournal(file, nodeJournalFiles, sha256);
    const entry =
      id === 'last'
        ? journal.entries.at(-1)
        : journal.entries.findLast(({ receipt }) => receipt.toolUseId.startsWith(id));
    if (entry !== undefined && id === 'last') return { entry, journal };
    if (entry?.receipt.toolUseId === id) return { entry, journal };
    if (entry !== undefined) matches.push({ entry, journal });
  }
  const [first] = matches;
  if (first !== undefined) return first;
  throw new PortcullisError(
    'io',
    `no decision about ${id === 'last' ? 'any call' : id} was found`,
    {
      remedy:
        'the id is the tool use id that the transcript and the frames carry, or its beginning',
    },
  );
}

async function verify(journals: readonly string[], output: Output): Promise<number> {
  let broken = 0;
  for (const file of journals) {
    const journal = await readJournal(file, nodeJournalFiles, sha256);
    if (!journal.chain.ok) broken++;
    output.out(`${file}${chainText(journal)}\n`);
  }
  return broken === 0 ? EXIT.done : EXIT.error;
}

function chainText({ chain }: ReadJournal): string {
  if (!chain.ok) return `: BROKEN at line ${chain.line}, ${chain.reason}`;
  const torn = chain.torn === 0 ? '' : `, ${chain.torn} cut off while written`;
  return `: unchanged, ${chain.lines} ${chain.lines === 1 ? 'decision' : 'decisions'}${torn}`;
}

function nameOf(file: string): string {
  return file.split(/[\\/]/).at(-1) ?? file;
}

import { PortcullisError } from '../../errors.js';
import type { JournalEntry, ProjectJournal, ReadJournal } from '../../project/journal.js';
import { receiptText } from '../../project/receipt-text.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { JSON_OPTION, printJson, textOption, withProject } from './project-call.js';

export const command: CommandSpec = {
  summary: 'Show how a tool call was decided, from the journal.',
  arguments: [
    {
      name: '[id]',
      description: 'A tool use id, its beginning, or "last" (the default): the latest call.',
    },
  ],
  options: [
    { flags: '--session <id>', description: 'Only calls of this session; its beginning will do.' },
    { flags: '--verify', description: 'Check that the journals here were not changed.' },
    JSON_OPTION,
  ],
  run: (call) =>
    withProject(call, async (project) => {
      const journal = await project.journal(textOption(call.options, 'session'));
      if (call.options.verify === true) return await verify(journal, call);
      const { entry, file } = await find(journal, call.args[0] ?? 'last');
      if (call.options.json === true) {
        printJson(call, { ...entry, file: file.file, chain: file.chain });
        return EXIT.done;
      }
      const { time, session, receipt } = entry;
      call.output.out(receiptText({ ...receipt, time, sessionId: session }));
      call.output.out(`\njournal: ${file.file}, entry ${entry.n}${chainText(file)}\n`);
      return EXIT.done;
    }),
};

interface Found {
  readonly entry: JournalEntry;
  readonly file: ReadJournal;
}

/** A whole id is preferred to one that only begins so. */
async function find(journal: ProjectJournal, id: string): Promise<Found> {
  let found: Found | undefined;
  for (const name of journal.files) {
    const file = await journal.read(name);
    const entry =
      id === 'last'
        ? file.entries.at(-1)
        : file.entries.findLast(({ receipt }) => receipt.toolUseId.startsWith(id));
    if (entry === undefined) continue;
    if (id === 'last' || entry.receipt.toolUseId === id) return { entry, file };
    found ??= { entry, file };
  }
  if (found !== undefined) return found;
  const which = id === 'last' ? 'any call' : id;
  throw new PortcullisError('io', `no decision about ${which} was found`, {
    remedy: 'give the tool use id of the transcript or of a frame, or its beginning',
  });
}

async function verify(journal: ProjectJournal, { output }: CommandCall): Promise<number> {
  let broken = 0;
  for (const name of journal.files) {
    const file = await journal.read(name);
    if (!file.chain.ok) broken++;
    output.out(`${name}${chainText(file)}\n`);
  }
  return broken === 0 ? EXIT.done : EXIT.error;
}

function chainText({ chain }: ReadJournal): string {
  if (!chain.ok) return `: BROKEN at line ${chain.line}, ${chain.reason}`;
  const torn = chain.torn === 0 ? '' : `, ${chain.torn} cut off while written`;
  return `: unchanged, ${chain.lines} ${chain.lines === 1 ? 'decision' : 'decisions'}${torn}`;
}

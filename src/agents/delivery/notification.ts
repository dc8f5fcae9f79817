import { sliceWhole } from '../../lib/text/truncate.js';
import type { InputMessage } from '../../loop/types.js';
import type { UserBlock } from '../../protocol/content.js';
import { escapeReport } from '../runtime/escape-tags.js';
import { outcomeLabel, type ReportWords, reportNotes } from '../runtime/report.js';
import type { KeptReport } from './journal.js';

const OPENS = '<task-notification>';
const PREVIEW_CHARS = 2_048;

export type DeliveryWords = Pick<ReportWords, 'cap' | 'canResume'>;

/** The message that delivers a report, with the delivery's id as its uuid. */
export function notification(
  report: KeptReport,
  facts: { readonly id: string; readonly outputFile: string; readonly words: DeliveryWords },
): InputMessage {
  const { agent, description, end } = report;
  const status = outcomeLabel(end);
  const text = [
    OPENS,
    `<task-id>${agent.id}</task-id>`,
    `<delivery-id>${facts.id}</delivery-id>`,
    `<status>${status}</status>`,
    `<summary>Agent "${escapeReport(description)}" (${agent.type}) ${status}</summary>`,
    `<output-file>${facts.outputFile}</output-file>`,
    '<result>',
    reportBody(report, facts.words),
    '</result>',
    '</task-notification>',
  ].join('\n');
  return { uuid: facts.id, content: [{ type: 'text', text }], meta: true };
}

/** The shown part of an agent's text, and how it ended. */
export function reportBody(report: KeptReport, words: DeliveryWords): string {
  return [shownText(report), ...reportNotes(report, words)]
    .filter((part) => part.trim() !== '')
    .join('\n\n');
}

function shownText({ text, kept }: KeptReport): string {
  const shown = escapeReport(text);
  if (kept === undefined) return shown;
  const preview = sliceWhole(shown, 0, PREVIEW_CHARS);
  return `[${kept.chars} characters are too many to show. All of them: ${kept.file} (use Grep, or Read with offset and limit). They begin:]\n${preview}\n…`;
}

/** The delivery ids in a message. Only the start of a block counts, because an agent may write anything inside. */
export function deliveryIds(content: string | readonly UserBlock[]): readonly string[] {
  const texts =
    typeof content === 'string'
      ? [content]
      : content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.flatMap((text) => HEAD.exec(text)?.[1] ?? []);
}

const HEAD = /^<task-notification>\n<task-id>[^<\n]*<\/task-id>\n<delivery-id>([\da-f-]{36})</;

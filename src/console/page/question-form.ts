import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AnswerOption } from '../../client/questions.js';
import type { InboxRow, Json } from './types.js';
import { clean, html, typed } from './ui.js';

interface FormProps {
  readonly row: InboxRow;
  readonly mayAnswer: boolean;
  onAnswer(given: Json): Promise<void>;
}

type Option = Pick<AnswerOption, 'key' | 'label'> & Partial<AnswerOption>;

const ARM_MS = 500;

/** The possible answers to a question, each with the rule that it would save. */
export function QuestionForm({ row, mayAnswer, onAnswer }: FormProps): VNode {
  const [isBusy, setBusy] = useState(true);
  const [text, setText] = useState('');
  const { question } = row;
  // A click on the previous question must not answer the one that took its place.
  useEffect(() => {
    const timer = setTimeout(() => setBusy(false), ARM_MS);
    return () => clearTimeout(timer);
  }, []);
  const give = async (given: Json): Promise<void> => {
    setBusy(true);
    await onAnswer(given);
    setBusy(false);
  };
  if (!mayAnswer) return html`<p class="muted">You are signed in as a viewer: others answer.</p>`;
  if (question.kind === 'choices') return html`<${Choices} row=${row} give=${give} />`;
  if (question.kind === 'form' || question.kind === 'url')
    return html`<${ServerForm} row=${row} give=${give} />`;
  const option = (one: Option, index: number, all: readonly Option[]): VNode => {
    const isRefusal = index === all.length - 1;
    const given =
      isRefusal && text !== ''
        ? { ...one.answer, message: text }
        : (one.answer ?? { option: one.key });
    const saves =
      one.rule === undefined
        ? null
        : html`<small>saves <code>${clean(one.rule)}</code>${one.savedIn === undefined ? '' : ` in ${clean(one.savedIn)}`}</small>`;
    const label = one.label.replace(/ \(add a reason.*\)$/, '');
    return html`<button type="button" class=${isRefusal ? 'refuse' : index === 0 ? 'primary' : ''} disabled=${isBusy || (row.tooLong && !isRefusal)} onClick=${() => give(given)}><span>${clean(label)}</span>${saves}</button>`;
  };
  return html`<div class="answers">
    ${question.kind === 'confirm' ? null : html`<label class="reason">Reason for a refusal<input type="text" value=${text} placeholder="Tell the model what to do instead" onInput=${typed(setText)} /></label>`}
    <div class="buttons">${((question.options ?? []) as readonly Option[]).map(option)}</div>
  </div>`;
}

type GiveProps = { readonly row: InboxRow; give(given: Json): Promise<void> };

/** The questions of AskUserQuestion with their choices. */
function Choices({ row, give }: GiveProps): VNode {
  const [chosen, setChosen] = useState<Readonly<Record<string, readonly string[]>>>({});
  const questions = row.question.questions ?? [];
  const toggle = (question: string, label: string, multi: boolean): void => {
    const before = chosen[question] ?? [];
    const others = before.includes(label)
      ? before.filter((one) => one !== label)
      : [...before, label];
    setChosen({ ...chosen, [question]: multi ? others : [label] });
  };
  const isDone = questions.every(({ question }) => (chosen[question] ?? []).length > 0);
  const submit = (): Promise<void> =>
    give({
      answers: Object.fromEntries(
        Object.entries(chosen).map(([name, labels]) => [name, labels.join(', ')]),
      ),
    });
  return html`<div class="answers">
    ${questions.map(
      ({ question, options, multiSelect }) =>
        html`<fieldset><legend>${clean(question)}</legend>${options.map(
          ({ label, description }) =>
            html`<label class="check"><input type=${multiSelect ? 'checkbox' : 'radio'} name=${question} checked=${(chosen[question] ?? []).includes(label)} onChange=${() => toggle(question, label, multiSelect)} /> <b>${clean(label)}</b> <span class="muted">${clean(description)}</span></label>`,
        )}</fieldset>`,
    )}
    <div class="buttons"><button type="button" class="primary" disabled=${!isDone} onClick=${submit}><span>Answer</span></button>
    <button type="button" class="refuse" onClick=${() => give({ behavior: 'deny' })}><span>Give no answer</span></button></div>
  </div>`;
}

/** A form or a page of an MCP server. */
function ServerForm({ row, give }: GiveProps): VNode {
  const [values, setValues] = useState<Json>({});
  const { question } = row;
  const isForm = question.kind === 'form';
  return html`<div class="answers">
    <p>${clean(question.message ?? '')}</p>
    ${(question.warnings ?? []).map((text) => html`<p class="problem">${clean(text)}</p>`)}
    ${isForm ? null : html`<p class="mono">${clean(question.url ?? '')} <span class="muted">(${clean(question.host ?? '')})</span></p>`}
    ${(question.fields ?? []).map(
      ({ name, title, description }) =>
        html`<label class="reason">${clean(title ?? name)} <span class="muted">${clean(description ?? '')}</span><input type="text" onInput=${typed((value) => setValues({ ...values, [name]: value }))} /></label>`,
    )}
    <div class="buttons"><button type="button" class="primary" disabled=${row.tooLong} onClick=${() => give(isForm ? { action: 'accept', content: values } : { action: 'accept' })}><span>${isForm ? 'Send' : 'I have opened the page'}</span></button>
    <button type="button" class="refuse" onClick=${() => give({ action: 'decline' })}><span>Decline</span></button></div>
  </div>`;
}

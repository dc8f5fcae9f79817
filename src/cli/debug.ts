import type { LoopEvent, SessionNews } from '../app.js';
import type { Output } from './output.js';

type Emit = (event: LoopEvent | SessionNews) => void;

/** The same channel, with a line for `--debug` about everything that passes. */
export function withDebug(output: Output, emit: Emit): Emit {
  if (!output.debugs) return emit;
  return (event) => {
    const line = describe(event);
    if (line !== undefined) output.debug(line);
    emit(event);
  };
}

function describe(event: LoopEvent | SessionNews): string | undefined {
  switch (event.type) {
    case 'answer': {
      const { answer } = event;
      const blocks = answer.message.content.map((block) =>
        block.type === 'tool_use' ? block.name : block.type,
      );
      return `answer ${answer.id} of ${answer.model}: ${blocks.join(' ')}, stop ${answer.stopReason}, ${JSON.stringify(answer.usage)}`;
    }
    case 'retry':
      return `${event.event.type}: ${event.event.failure.kind} ${event.event.failure.message}`;
    case 'decision': {
      const { receipt } = event;
      const trace = receipt.trace.map((step) => `${step.guard}=${step.decision}`).join(' ');
      return `${receipt.decision} ${receipt.tool} ${receipt.toolUseId}: ${receipt.reason} [${trace}]`;
    }
    case 'tool_result':
      return `result of ${event.call.name} ${event.call.id}${event.result.block.is_error === true ? ' (error)' : ''}`;
    case 'requesting':
    case 'stream':
    case 'block':
    case 'input':
      return undefined;
    default:
      return `${event.type} ${JSON.stringify({ ...event, summary: undefined })}`;
  }
}

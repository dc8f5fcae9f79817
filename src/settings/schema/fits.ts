import { isRecord } from '../../lib/own.js';
import type { SettingNode } from '../../protocol/setting-node.js';

/** Whether a value is of the node's kind; what is inside lists and objects is not looked at. */
export function fits(node: SettingNode, value: unknown): boolean {
  switch (node.type) {
    case 'any':
      return true;
    case 'string':
      return (
        typeof value === 'string' &&
        (node.pattern === undefined || new RegExp(node.pattern).test(value))
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
    case 'integer':
      return (
        typeof value === 'number' &&
        (node.type === 'number' || Number.isInteger(value)) &&
        value >= (node.least ?? Number.NEGATIVE_INFINITY) &&
        value > (node.above ?? Number.NEGATIVE_INFINITY) &&
        value <= (node.most ?? Number.POSITIVE_INFINITY)
      );
    case 'choice':
      return node.values.some((one) => one === value);
    case 'list':
      return Array.isArray(value);
    case 'map':
    case 'object':
      return isRecord(value);
    case 'one':
      return node.of.some((choice) => fits(choice, value));
  }
}

/** What a value should be, for people: `a list of strings`, `one of "a", "b"`. */
export function wanted(node: SettingNode): string {
  switch (node.type) {
    case 'any':
      return 'anything';
    case 'string':
      return 'a string';
    case 'boolean':
      return 'true or false';
    case 'number':
    case 'integer': {
      const kind = node.type === 'integer' ? 'a whole number' : 'a number';
      const least = node.least === undefined ? '' : ` of at least ${node.least}`;
      const above = node.above === undefined ? '' : ` above ${node.above}`;
      return `${kind}${least}${above}${node.most === undefined ? '' : ` and at most ${node.most}`}`;
    }
    case 'choice': {
      const values = node.values.map((one) => JSON.stringify(one)).join(', ');
      return node.values.length === 1 ? values : `one of ${values}`;
    }
    case 'list':
      return node.of.type === 'string' ? 'a list of strings' : 'a list';
    case 'map':
    case 'object':
      return 'an object';
    case 'one':
      return [...new Set(node.of.map(wanted))].join(' or ');
  }
}

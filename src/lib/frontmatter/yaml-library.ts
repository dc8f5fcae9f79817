// The library is no ES module: its names are known to a bundler only where they are imported so.
export { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

import { parseUrl } from '../../lib/parse-url.js';
import { trimEnd } from '../../lib/text/trim-end.js';

/** The host part of a `WebFetch(domain:…)` rule, by labels from the left. */
export interface DomainPattern {
  readonly labels: readonly string[];
  /** `*.example.com`: any subdomain, at any depth, but not the domain itself. */
  readonly subdomains: boolean;
  readonly every: boolean;
}

export function parseDomain(spec: string): DomainPattern | undefined {
  const found = /^domain\s*:\s*(\S+)$/i.exec(spec.trim());
  const host = found?.[1]?.toLowerCase().replace(/\.$/, '');
  if (host === undefined || host === '' || /[/:@?#\\]/.test(host)) return undefined;
  if (host === '*') return { labels: [], subdomains: false, every: true };
  const subdomains = host.startsWith('*.');
  const labels = asAddressed(subdomains ? host.slice(2) : host)?.split('.');
  if (labels === undefined) return undefined;
  const unclear = labels.some((label) => !LABEL.test(label) || label.split('*').length > 2);
  return unclear ? undefined : { labels, subdomains, every: false };
}

/** As hosts stand in addresses: in ASCII, numbers in their one form. Patterns are what they are. */
function asAddressed(host: string): string | undefined {
  return host.includes('*') ? host : hostOf(`http://${host}`);
}

/** fail-closed: no host has other letters, and such a restriction would hold nothing. */
const LABEL = /^[a-z0-9_*-]+$/;

/** Whether the URL's host fits. What is not a web address has no host and fits nothing. */
export function matchesDomain(pattern: DomainPattern, url: string): boolean {
  const labels = hostOf(url)?.split('.');
  if (labels === undefined) return false;
  if (pattern.every) return true;
  const { length } = pattern.labels;
  const depthFits = pattern.subdomains ? labels.length > length : labels.length === length;
  if (!depthFits) return false;
  const tail = labels.slice(labels.length - length);
  return pattern.labels.every((wanted, index) => labelFits(wanted, tail[index] ?? ''));
}

/** Lower case, without trailing dots; undefined for what is not http or https. */
export function hostOf(url: string): string | undefined {
  const parsed = parseUrl(url);
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') return undefined;
  return trimEnd(parsed.hostname.toLowerCase(), '.');
}

/** A `*` stays within its label. */
function labelFits(wanted: string, label: string): boolean {
  const star = wanted.indexOf('*');
  if (star === -1) return wanted === label;
  const before = wanted.slice(0, star);
  const after = wanted.slice(star + 1);
  return (
    label.length >= before.length + after.length &&
    label.startsWith(before) &&
    label.endsWith(after)
  );
}

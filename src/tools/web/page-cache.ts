export const PAGE_LIFETIME_MS = 15 * 60 * 1000;
const MAX_PAGES = 50;
const MAX_CHARS = 10_000_000;

/** Pages that were fetched a short while ago, so that reading on costs no second request. */
export interface PageCache<Page extends { readonly text: string }> {
  get(url: string): Page | undefined;
  set(url: string, page: Page): void;
}

export function createPageCache<Page extends { readonly text: string }>(
  now: () => number,
): PageCache<Page> {
  const pages = new Map<string, { readonly page: Page; readonly until: number }>();
  let chars = 0;
  const drop = (url: string): void => {
    chars -= pages.get(url)?.page.text.length ?? 0;
    pages.delete(url);
  };
  return {
    get(url) {
      const found = pages.get(url);
      if (found !== undefined && found.until > now()) return found.page;
      drop(url);
      return undefined;
    },
    set(url, page) {
      drop(url);
      pages.set(url, { page, until: now() + PAGE_LIFETIME_MS });
      chars += page.text.length;
      // A map keeps insertion order: the first is the oldest.
      for (const oldest of pages.keys()) {
        if (pages.size <= MAX_PAGES && chars <= MAX_CHARS) break;
        drop(oldest);
      }
    },
  };
}

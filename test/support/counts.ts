/** How many generated cases a test plays: few with `npm test`, many with `npm run test:full`. */
export function cases(few: number, many: number): number {
  return process.env.PORTCULLIS_FULL_TESTS === '1' ? many : few;
}

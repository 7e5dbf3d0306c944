/** Ways to build that what holds for each of them is tried with; `npm run test:all` tries both. */
export const builders: ('buildkit' | 'classic')[] = process.env.TEST_ALL
  ? ['buildkit', 'classic']
  : ['buildkit']

/** Orders that found a bug which has been fixed: the first seed of each, in calm weather or not. */
export const keptSeeds: { seed: number; isCalm: boolean; bug: string }[] = [
  { seed: 300_041, isCalm: true, bug: 'a stop in the middle of a switch left the app down' },
  {
    seed: 300_406,
    isCalm: true,
    bug: 'a start that failed without the engine left its containers',
  },
  {
    seed: 950_061,
    isCalm: false,
    bug: 'a cancelled start was lost when Davit stopped before it was undone',
  },
  {
    seed: 739_778_033,
    isCalm: false,
    bug: 'a restart that was cancelled before it began left its service unhealthy',
  },
  {
    seed: 739_779_616,
    isCalm: false,
    bug: 'a container whose creation had a lost response was left over',
  },
  {
    seed: 739_779_812,
    isCalm: false,
    bug: 'a restart that failed while the engine was away left a state that was not true',
  },
]

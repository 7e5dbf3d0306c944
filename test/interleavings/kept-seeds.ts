/** Orders that found a bug which has been fixed: the first seed of each. */
export const keptSeeds: { seed: number; bug: string }[] = [
  { seed: 1894, bug: 'a network was made for a project that had been deleted meanwhile' },
  { seed: 1049, bug: 'a stop in the middle of a switch left the app down' },
  { seed: 950_061, bug: 'a cancelled start was lost when Davit stopped before it was undone' },
]

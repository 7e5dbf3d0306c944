/** Orders that found a bug which has been fixed: the first seed of each. */
export const keptSeeds: { seed: number; bug: string }[] = []

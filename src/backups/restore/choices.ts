import type { Contents } from '../recipes/index.ts'
import type { Backup } from '../store.ts'

type Contained = Pick<Backup, 'contents'>

/**
 * The databases of a backup, each with what chooses it alone: its name, or that behind its component's and a slash
 * where several servers have one of that name.
 */
export function choicesOf({ contents }: Contained) {
  const all = (contents ?? []).flatMap(({ component, databases }) =>
    databases.map(({ name }) => ({ component, name })),
  )
  const sameName = Map.groupBy(all, ({ name }) => name)
  return all.map((one) => {
    const { component, name } = one
    // one with a slash may look like that of another server
    const isOne = sameName.get(name)!.length === 1 && !name.includes('/')
    return { ...one, choice: isOne ? name : `${component}/${name}` }
  })
}

export type Chosen = {
  contents: Contents
  /** The one of its databases that is chosen alone. */
  only?: string
}

/** What a stored restore has chosen; null is all. */
export function chosenIn(backup: Contained, database: string | null): Chosen[] {
  const all = (backup.contents ?? []) as Contents[]
  if (database === null) return all.map((contents) => ({ contents }))
  const one = choicesOf(backup).find(({ choice }) => choice === database)
  return all.flatMap((contents) =>
    contents.component === one?.component ? { contents, only: one.name } : [],
  )
}

import type { DatabaseContents } from './contents.ts'

/** Shell scripts that use the tools of a server. Each fails when its tool does. */
export type Engine = {
  /**
   * Prints objects of JSON: its `version`, then a `database` or a `role` each, and each `folder` that it keeps files of
   * its own in. A database that `isSmall` takes so little to dump that another one needn't wait for it.
   */
  server: string
  /** Null for a server without any. `isLast` when they are loaded after the databases, not before. */
  roles: { dump: string; load: string; ending: string; isLast?: boolean } | null
  /** Of the database in `DAVIT_DATABASE`. */
  database: {
    /** Prints what it counts in its snapshot, an empty line, then the data; or counts it last, as errors. */
    dump: string
    /** Prints the same without data. */
    count: string
    /** Prints what `DAVIT_QUERY` selects. */
    query?: string
    load: string
    /** True when `load` removes the old data before it has read the new. */
    erases?: true
    /** Waits until what was loaded outlives the server's end, if that takes longer. */
    settle?: string
    /** Run when `load` has failed, or was ended, also with Davit itself. Repeatable. */
    undo?: string
  }
  /** The end of its files' names. */
  ending: string
  /** More variables, for one of its databases. */
  env?: (
    database?: Pick<DatabaseContents, 'name' | 'create' | 'extensions'>,
  ) => Record<string, string>
  /** Reads what was counted. */
  toDatabase: (lines: unknown[]) => Omit<DatabaseContents, 'name' | 'file'>
}

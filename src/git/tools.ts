import type { Lookup } from '../platform/hosts.ts'
import type { KeyedLock } from '../platform/semaphore.ts'
import type { Keys } from './keys.ts'
import type { RefType } from './ref-pattern.ts'
import type { GitSetup } from './run.ts'

export type Log = (line: string) => void

/** A commit in a mirror on this machine. */
export type Snapshot = {
  mirror: string
  /** Empty for uploaded files, which can't be fetched again. */
  url: string
  branch: string
  /** Null for a commit of which only a name was given. */
  refType: RefType | 'pull' | null
  commit: { hash: string; author: string; message: string }
  /** True when its history and all tags were fetched too. */
  hasHistory: boolean
}

/** The tree that a build sees; `alternates` are other mirrors that have some of its objects. */
export type BuildContext = {
  mirror: string
  tree: string
  alternates: string[]
  dockerfile: string
  /** The Dockerfile's text where the repository has none; the tree lacks it. */
  planned: string | null
  /** A name that no file in the context has, for a generated Dockerfile. */
  spareName: string
  /** The commit that `.git` in the context shows; null without a `.git`. */
  shows: Snapshot | null
  files: number
  /** Of the files and their modes; empty unless it was asked for. */
  digest: string
  /** Null without one that can be read. */
  procfile: string | null
}

export type GitTools = {
  setup: GitSetup
  mirrors: string
  allow: string[]
  lookup: Lookup | undefined
  limits: { size: number; look: number }
  locks: KeyedLock
  keys: Keys
}

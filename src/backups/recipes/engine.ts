import type { Writable } from 'node:stream'
import type { Contents } from './contents.ts'
import type { Target, ToolDeps } from './tool.ts'

export type Call = Target & { signal: AbortSignal }

export type Dump = Call & {
  /** Called for one file after the other. `write` doesn't end the stream, and rejects when the file isn't whole. */
  each: (file: DumpFile) => Promise<void>
}

export type DumpFile = {
  name: string
  write: (to: Writable, signal: AbortSignal) => Promise<void>
}

export type Load = Call & {
  contents: Contents
  /** By default all. */
  database?: string | undefined
  /** Writes a file of the dump, without ending the stream. */
  read: (file: string, to: Writable, signal: AbortSignal) => Promise<void>
}

export type Engine = {
  version(deps: ToolDeps, call: Call): Promise<string>
  dump(deps: ToolDeps, dump: Dump): Promise<Contents>
  load(deps: ToolDeps, load: Load): Promise<void>
  inspect(deps: ToolDeps, call: Call): Promise<Contents>
}

/** As entered: a list of words, or a line that is split as a POSIX shell splits words. */
export type Command = string | string[]

/** Runs beside others in an environment. Null: the image's own command, or the environment's limit. */
export type Process = {
  name: string
  command: Command | null
  replicas: number
  memoryMb: number | null
  cpus: number | null
  /** Seconds between its stop signal and SIGKILL; 10 if absent. */
  stopSeconds?: number
  /** Runs an init as process 1; if absent, unless the image starts with one. */
  init?: boolean | undefined
}

/** A line of a Procfile whose command can be run, including `release`. */
export type ProcfileEntry = { name: string; command: string }

/** An environment's processes until someone changes them. */
export const onlyWeb: Process = {
  name: 'web',
  command: null,
  replicas: 1,
  memoryMb: null,
  cpus: null,
}

/** As it was entered: the words of a command, or a line that is split as a POSIX shell splits words. */
export type Command = string | string[]

/** What runs beside others in an environment. Null: the image's own command, the environment's limits. */
export type Process = {
  name: string
  command: Command | null
  replicas: number
  memoryMb: number | null
  cpus: number | null
  /** Between its stop signal and SIGKILL. Absent: 10. */
  stopSeconds?: number
  /** Whether an init is process 1. Absent: unless the image starts with one. */
  init?: boolean | undefined
}

/** A line of a Procfile whose command can be run; `release` is one of them. */
export type ProcfileEntry = { name: string; command: string }

/** An environment's processes until someone sets them. */
export const onlyWeb: Process = {
  name: 'web',
  command: null,
  replicas: 1,
  memoryMb: null,
  cpus: null,
}

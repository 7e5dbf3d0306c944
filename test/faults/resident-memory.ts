import { readFileSync } from 'node:fs'

/** MiB that a process has in memory. */
export const residentMemory = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

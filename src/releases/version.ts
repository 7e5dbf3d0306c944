import { readElf } from './elf.ts'

/** A version such as 1.2.3, or 1.3.0-rc.1. */
export const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.-]{1,64})?$/

/** Below 0 when `a` is older, above 0 when it is newer: as npm orders versions, what is before a release included. */
export const compareVersions = (a: string, b: string) => Bun.semver.order(a, b)

/** What an executable must be made for to run here, such as `linux-x64`. */
export function thisTarget() {
  const usesMusl = readElf(process.execPath)?.loader?.includes('musl') ?? false
  return `linux-${process.arch}${usesMusl ? '-musl' : ''}`
}

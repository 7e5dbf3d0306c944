import { readElf } from './elf.ts'

/** A version such as 1.2.3 or 1.3.0-rc.1. */
export const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.-]{1,64})?$/

/** Negative when `a` is older, positive when it is newer. Orders pre-releases like npm. */
export const compareVersions = (a: string, b: string) => Bun.semver.order(a, b)

/** The target of executables that can run here, such as `linux-x64`. */
export function thisTarget() {
  const usesMusl = readElf(process.execPath)?.loader?.includes('musl') ?? false
  return `linux-${process.arch}${usesMusl ? '-musl' : ''}`
}

/** Resolves true when it holds in time. For what no event tells. */
export async function comesTrue(seconds: number, holds: () => Promise<boolean> | boolean) {
  const end = performance.now() + seconds * 1000
  while (!(await holds())) {
    if (performance.now() > end) return false
    await Bun.sleep(20)
  }
  return true
}

/** Waits for it; throws when it does not hold in time, which is nearly all that a test has. */
export async function until(holds: () => Promise<boolean> | boolean, seconds = 100) {
  if (await comesTrue(seconds, holds)) return
  throw new Error(`It did not come to pass within ${seconds} s: ${holds}`)
}

/** The longest time that a turn of the loop took while this was done, in milliseconds. */
export async function longestTurn(work: () => Promise<unknown>) {
  let longest = 0
  let last = performance.now()
  let isOver = false
  const tick = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  await work()
  isOver = true
  return Math.max(longest, performance.now() - last)
}

/** How many turns the loop took while this was done, and the longest of them in milliseconds. */
export async function watchLoop(work: () => Promise<unknown>) {
  let [turns, longest, last] = [0, 0, performance.now()]
  let isOver = false
  const tick = () => {
    turns++
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  await work()
  isOver = true
  return { turns, longest: Math.max(longest, performance.now() - last) }
}

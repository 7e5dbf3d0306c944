/** The promise's value, or null when it takes longer than that many milliseconds; the work goes on. */
export function within<Value>(milliseconds: number, promise: Promise<Value>) {
  return new Promise<Value | null>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, null)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Whether it ends within that many milliseconds; the work goes on. */
export const endsWithin = async (milliseconds: number, work: Promise<unknown>) =>
  (await within(
    milliseconds,
    work.then(() => true),
  )) !== null

/** How long an answer waits for work that can take long before it says 202 (decisions: representations). */
export const patience = 10_000

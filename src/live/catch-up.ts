import { lagged } from './hub.ts'

/** A new reader is one that lags: it begins with what is stored. */
export async function* catchUp<Event>(live: AsyncIterable<Event | typeof lagged>) {
  yield lagged
  yield* live
}

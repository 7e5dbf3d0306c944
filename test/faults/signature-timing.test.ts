import { expect, test } from 'bun:test'
import { hmac, hexSignature, isSigned } from '../../src/webhooks/signature.ts'

const key = 'a secret of 32 bytes for the test'
const body = Buffer.from(JSON.stringify({ ref: 'refs/heads/main', padding: 'x'.repeat(500) }))

/** Correlation above which the time of a refusal would tell how much of a signature was guessed. */
const limit = 0.02

const signatures = 10_000

/** They share their first 0 to 60 digits; chance makes one round of 20 correlate, so the median decides. */
test('how long a wrong signature takes reveals nothing about the right one', async () => {
  await timed(2000) // so that all code is compiled
  const coefficients: number[] = []
  for (let n = 0; n < 7; n++) coefficients.push(Math.abs(await timed(signatures)))
  expect(coefficients.toSorted((a, b) => a - b)[3]).toBeLessThan(limit)
})

/** The correlation of shared digits and time, as ranks: a pause of the machine is one long time, not many. */
async function timed(signatures: number) {
  const right = (await hmac(key, [body])).toString('hex')
  const shared = Array.from({ length: signatures }, () => Math.floor(Math.random() * 61))
  const headers = shared.map((count) => `sha256=${wrong(right, count)}`)
  const received = headers.map((header) => Buffer.from(header).toString('latin1')) // in one piece
  const times: number[] = []
  for (const header of received) {
    const signatures = hexSignature(header, 'sha256=')
    const from = Bun.nanoseconds()
    await isSigned({ key, pieces: [body], signatures })
    times.push(Bun.nanoseconds() - from)
  }
  return correlation(ranks(shared), ranks(times))
}

const wrong = (right: string, shared: number) =>
  right.slice(0, shared) +
  [...right.slice(shared)].map((digit) => (parseInt(digit, 16) ^ 5).toString(16)).join('')

/** Equal values get the mean of their places. */
function ranks(values: number[]) {
  const order = values.map((value, at) => ({ value, at })).sort((a, b) => a.value - b.value)
  const places: number[] = Array(values.length)
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && order[to]!.value === order[from]!.value) to++
    for (let at = from; at < to; at++) places[order[at]!.at] = (from + to - 1) / 2
  }
  return places
}

function correlation(x: number[], y: number[]) {
  const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length
  const [mx, my] = [mean(x), mean(y)]
  const sum = (f: (at: number) => number) => x.reduce((total, _, at) => total + f(at), 0)
  const covariance = sum((at) => (x[at]! - mx) * (y[at]! - my))
  return covariance / Math.sqrt(sum((at) => (x[at]! - mx) ** 2) * sum((at) => (y[at]! - my) ** 2))
}

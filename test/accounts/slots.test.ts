import { expect, test } from 'bun:test'
import { Slots } from '../../src/accounts/slots.ts'

function gatedTasks() {
  const gates: PromiseWithResolvers<void>[] = []
  const task = () => {
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    return gate.promise
  }
  return { gates, task }
}

/** Lets everything run that waits for nothing but its turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

const refusal = () => new Error('full')

test('no more tasks run at once than there are slots, and the rest follow in order', async () => {
  const slots = new Slots({ count: 2, waiting: 10, refusal })
  const { gates, task } = gatedTasks()
  const ended: number[] = []
  const all = [0, 1, 2, 3].map((i) => slots.run(task).then(() => ended.push(i)))
  await settle()
  expect(gates).toHaveLength(2)
  gates[1]!.resolve()
  await settle()
  expect([ended, gates.length]).toEqual([[1], 3])
  gates[0]!.resolve()
  gates[2]!.resolve()
  await settle()
  gates[3]!.resolve()
  await Promise.all(all)
  expect(ended).toEqual([1, 0, 2, 3])
})

test('one more than may wait is refused at once', async () => {
  const slots = new Slots({ count: 1, waiting: 1, refusal })
  const { gates, task } = gatedTasks()
  const admitted = [slots.run(task), slots.run(task)]
  await expect(slots.run(task)).rejects.toThrow('full')
  await settle()
  gates[0]!.resolve()
  await settle()
  gates[1]!.resolve()
  await Promise.all(admitted)
})

test('a task that fails gives its slot back', async () => {
  const slots = new Slots({ count: 1, waiting: 0, refusal })
  await expect(slots.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await slots.run(async () => 'fine')).toBe('fine')
})

import { AppError, Failure } from '../../src/platform/errors.ts'
import { plainError } from '../../src/platform/errors.ts'

declare const self: Worker

/** Tasks that go wrong in each way in which one can. */
const tasks: Record<string, (...args: any[]) => unknown> = {
  double: (value: number) => value * 2,
  spin: () => {
    for (;;);
  },
  refuse: () => {
    throw new AppError('invalid', 'This is wrong.', { fields: [{ field: 'a', message: 'wrong' }] })
  },
  fail: () => {
    throw new Failure('broken', 'It broke.', 'Fix it.')
  },
  overflow: (): number => 1 + (tasks.overflow!() as number), // no tail call, which would never end
  give: () => () => 'a function is not sent',
}

self.onmessage = ({ data }: MessageEvent<{ name: string; args: unknown[] }>) =>
  self.postMessage(reply(data))

// Modules that take longer to load than most tasks here may run.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
self.postMessage({ value: 'ready' })

function reply({ name, args }: { name: string; args: unknown[] }) {
  try {
    return { value: tasks[name]!(...args) }
  } catch (error) {
    return { error: plainError(error) }
  }
}

import { afterEach, expect, jest, spyOn, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { journal, report, reportEngineBack } from '../../src/platform/journal.ts'

afterEach(() => void jest.restoreAllMocks())

/** The lines that are written meanwhile. */
function linesOf(act: () => void) {
  const write = spyOn(process.stderr, 'write').mockReturnValue(true)
  act()
  return write.mock.calls.map(([line]) => JSON.parse(String(line)))
}

test('a fault of the outside world is a warning with its hint, and no stack', () => {
  const fault = new Failure('engine_timeout', 'The engine is silent.', 'Look at its log.')
  expect(linesOf(() => report('removal failed', fault, { project: 'p' }))).toEqual([
    {
      time: expect.any(String),
      level: 'warn',
      message: 'removal failed: The engine is silent.',
      project: 'p',
      hint: 'Look at its log.',
    },
  ])
})

test('anything else is an error, told in full', () => {
  const [line] = linesOf(() => report('removal failed', new TypeError('x is undefined')))
  expect(line).toMatchObject({ level: 'error', message: 'removal failed' })
  expect(line.error).toContain('journal.test.ts')
})

test('an engine that is away is reported once, whatever fails because of it, and once when it is back', () => {
  const away = new Failure('engine_unreachable', 'The engine is away.', 'Start it.')
  const back = spyOn(journal, 'info')
  const lines = linesOf(() => {
    for (let second = 0; second < 60; second++) {
      report('containers were not inspected', away)
      report('a service could not be observed', away, { service: 's' })
    }
    reportEngineBack()
    reportEngineBack()
    expect(back.mock.calls).toEqual([['Docker can be reached again']])
    report('the usage of containers was not measured', away)
    reportEngineBack()
  })
  expect(back).toHaveBeenCalledTimes(2)
  expect(lines.map(({ message }) => message)).toEqual([
    'containers were not inspected: The engine is away.',
    'the usage of containers was not measured: The engine is away.',
  ])
})

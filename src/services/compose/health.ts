import { containerLimits } from '../../platform/limits.ts'
import type { Field } from './field.ts'
import type { Health } from './model.ts'
import { durationOf } from './units.ts'

const keys = ['test', 'interval', 'timeout', 'retries', 'start_period', 'start_interval', 'disable']

export function healthOf(field: Field): Health | null {
  if (field.absent) return null
  field.only(keys)
  const test = testOf(field.get('test'))
  if (field.get('disable').or(false, (d) => d.flag()) || test?.[0] === 'NONE')
    return { disabled: true }
  const time = (key: string) => field.get(key).or(null, durationOf)
  time('start_interval') // engines before version 25 lack it and check every 5 s
  return {
    disabled: false,
    test,
    interval: field
      .get('interval')
      .or(null, (f) => Math.max(durationOf(f), containerLimits.healthInterval)),
    timeout: time('timeout'),
    startPeriod: time('start_period'),
    retries: field.get('retries').or(null, (r) => r.number({ min: 0, max: 10_000 })),
  }
}

function testOf(field: Field): string[] | null {
  if (field.absent) return null
  if (!field.isList) return ['CMD-SHELL', field.text('a command')]
  const words = field.items().map((item) => item.text())
  const [how, ...rest] = words
  const right =
    how === 'NONE' ||
    (how === 'CMD' && rest.length > 0) ||
    (how === 'CMD-SHELL' && rest.length === 1)
  if (right) return words
  throw field.refuse('must be NONE, CMD with its words, or CMD-SHELL with one line.')
}

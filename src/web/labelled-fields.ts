import { z } from 'zod'
import { isZone, neverComes, whyNotCron } from '../platform/cron.ts'
import { block, flag, line, unless, whole } from './fields.ts'
import { readMoment } from './moment.ts'
import { field } from './schema-fields.tsx'
import type { FieldLook } from './schema-fields.tsx'

/** A line of text; its label says what it must be: “must be a region.” */
export const lineField = (
  label: string,
  { min = 1, max, ...look }: { min?: number; max: number } & Partial<FieldLook>,
) => field(line(withArticle(label), { min, max }), { label, ...look })

function withArticle(label: string) {
  const text = label.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
  return `${/^[aeio]/i.test(text) ? 'an' : 'a'} ${text}`
}

/** A checkbox. */
export const flagField = (label: string, look: Partial<FieldLook> = {}) =>
  field(flag().nullish(), { label, isFlag: true, ...look })

export const portField = (initial: string) =>
  field(whole('a port', { min: 1, max: 65_535 }), {
    ...{ label: 'Port', initial, inputmode: 'numeric', isNarrow: true },
  })

/** Of a login by ssh. */
export const privateKeyField = (look: Partial<FieldLook>) =>
  field(block('a private key', { max: 20_000 }), {
    ...{ label: 'Private key', isLong: true, secret: true, code: true },
    placeholder: '-----BEGIN OPENSSH PRIVATE KEY-----',
    ...look,
  })

/** One of several values, with the label of each. */
export const choiceField = <Options extends Record<string, string>>(
  label: string,
  options: Options,
  look: Partial<FieldLook> = {},
) =>
  field(z.enum(valuesOf(options), `must be ${eitherOf(options)}.`), {
    label,
    options: Object.entries(options).map(([value, label]) => ({ value, label })),
    ...look,
  })

/** To choose one of these. */
export const optionsOf = (rows: { id: string; name: string }[]) =>
  rows.map(({ id, name }) => ({ value: id, label: name }))

const valuesOf = <Options extends object>(options: Options) =>
  Object.fromEntries(Object.keys(options).map((value) => [value, value])) as {
    [Value in keyof Options & string]: Value
  }

/** As in “must be skip, queue or replace.” */
export const eitherOf = (options: object) =>
  Object.keys(options)
    .join(', ')
    .replace(/, (\w+)$/, ' or $1')

/** A cron expression; `neverComes` takes long, so it may be checked elsewhere. */
export const cron = () => line('a cron expression', { max: 100 }).superRefine(unless(whyNotCron))

export const isNever = 'never comes: no month has such a day.'

/** Times by a cron expression. */
export const timeFields = {
  schedule: field(
    cron().refine((text) => !neverComes(text), isNever),
    {
      label: 'Schedule',
      placeholder: '0 3 * * *',
      hint: 'A cron expression: minute, hour, day, month, weekday. Or @hourly, @daily, @weekly, @monthly.',
      code: true,
      isNarrow: true,
    },
  ),
  zone: lineField('Time zone', {
    max: 60,
    placeholder: 'UTC',
    hint: 'Such as Europe/Berlin. Leave empty for UTC.',
    code: true,
    isNarrow: true,
  })
    .refine(isZone, 'must be a time zone such as Europe/Berlin.')
    .nullish(),
}

const isNoMoment = 'must be a time such as 2026-12-24T18:00:00Z.'

/** RFC 3339, or what a browser sends, without a zone: then the zone is in a field of its own. */
export const moment = (label: string, hint?: string) =>
  field(
    line('a time such as 2026-12-24T18:00:00Z', { max: 40 }).refine(
      (text) => readMoment(text, 'UTC') !== null,
      isNoMoment,
    ),
    { label, type: 'datetime-local' as const, isNarrow: true, ...(hint && { hint }) },
  )

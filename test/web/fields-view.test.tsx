import { expect, test } from 'bun:test'
import { z } from 'zod'
import { command, line, lines } from '../../src/web/fields.ts'
import {
  Checkbox,
  FormError,
  SelectField,
  TextArea,
  TextField,
} from '../../src/web/fields-view.tsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { DraftContext } from '../../src/web/draft.ts'

/** A field as it is drawn in a form that comes back. */
const drawn = (
  field: JSX.Element,
  draft: {
    values?: Record<string, string>
    errors?: Record<string, string>
    message?: string
  } = {},
) =>
  (
    <DraftContext.Provider value={{ values: {}, errors: {}, message: null, ...draft }}>
      {field}
    </DraftContext.Provider>
  ).toString()

test('what was typed wins over what is stored, and is only text', () => {
  const field = <TextField name="name" label="Name" value="old" />
  const html = drawn(field, { values: { name: '"><script>' } })
  expect(html).toContain('value="&quot;&gt;&lt;script&gt;"')
  expect(html).not.toContain('old')
})

test('what was typed as a password is not shown again', () => {
  const html = drawn(<TextField name="token" label="Token" type="password" />, {
    values: { token: 'hunter2' },
  })
  expect(html).not.toContain('hunter2')
})

test('a complaint names its field and is tied to the control, before the hint', () => {
  const html = drawn(<TextField name="port" label="Port" hint="Of this host." />, {
    values: { port: 'x' },
    errors: { port: 'must be a port.' },
  })
  expect(html).toContain('aria-invalid="true"')
  expect(html).toContain('aria-describedby="field-port-error field-port-hint"')
  expect(html).toContain('id="field-port-error" class="field-error">Port must be a port.</p>')
})

test('a field without complaints is not marked as invalid', () => {
  const html = drawn(<TextField name="port" label="Port" />)
  expect(html).not.toContain('invalid')
  expect(html).not.toContain('aria-describedby')
})

test('a text area keeps a first line that is empty', () => {
  const html = (<TextArea name="dotenv" label="Lines" value={'\n<A>=1'} />).toString()
  expect(html).toContain('>\n\n&lt;A&gt;=1</textarea>')
})

test('a box that was unticked stays so when the form comes back', () => {
  const box = (values = {}) => drawn(<Checkbox name="secret" label="Secret" value />, { values })
  expect(box()).toContain('checked')
  expect(box({ secret: '0' })).not.toContain('checked')
  expect(box({ secret: '0\non' })).toContain('checked')
  expect(box({ secret: 'constructor' })).not.toContain('checked')
  expect(box()).toContain('<input type="hidden" name="secret" value="0"/>')
})

test('a choice keeps what was chosen', () => {
  const options = [
    { value: '', label: 'As the project' },
    { value: '1', label: 'Deploy' },
  ]
  const field = <SelectField name="auto" label="Auto" options={options} value="" />
  const html = drawn(field, { values: { auto: '1' } })
  expect(html).toContain('<option value="1" selected="">')
})

test('what is wrong with the whole form is said on top', () => {
  expect(drawn(<FormError />, { message: 'Taken.' })).toContain('role="alert"')
  expect(drawn(<FormError />)).not.toContain('alert')
})

test('a value that is missing is required, and a wrong one is told what it must be', () => {
  const fields = {
    name: line('a name', { max: 60 }),
    to: lines(line('an address', { max: 60 }), { max: 3 }),
    command: command(),
  }
  const problems = (given: unknown) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        z.safeParse(field, given).error!.issues[0]!.message,
      ]),
    )
  for (const none of [null, undefined])
    expect(Object.values(problems(none))).toEqual(Array(3).fill('is required.'))
  expect(z.safeParse(fields.name, ' ').error!.issues[0]!.message).toBe('is required.')
  expect(Object.values(problems(5))).not.toContain('is required.')
})

import { expect, test } from 'bun:test'
import {
  Checkbox,
  FormError,
  SelectField,
  TextArea,
  TextField,
} from '../../src/web/fields-view.tsx'
import type { Draft } from '../../src/web/input.ts'

const draft = (values: Record<string, string>, errors: Record<string, string> = {}): Draft => ({
  values,
  errors,
  message: null,
})

test('what was typed wins over what is stored, and is only text', () => {
  const html = (
    <TextField name="name" label="Name" value="old" draft={draft({ name: '"><script>' })} />
  ).toString()
  expect(html).toContain('value="&quot;&gt;&lt;script&gt;"')
  expect(html).not.toContain('old')
})

test('a complaint names its field and is tied to the control, before the hint', () => {
  const html = (
    <TextField
      name="port"
      label="Port"
      hint="Of this host."
      draft={draft({ port: 'x' }, { port: 'wants a port.' })}
    />
  ).toString()
  expect(html).toContain('aria-invalid="true"')
  expect(html).toContain('aria-describedby="field-port-error field-port-hint"')
  expect(html).toContain('id="field-port-error" class="field-error">Port wants a port.</p>')
})

test('a field without complaints is not marked as invalid', () => {
  const html = (<TextField name="port" label="Port" draft={draft({})} />).toString()
  expect(html).not.toContain('invalid')
  expect(html).not.toContain('aria-describedby')
})

test('a text area keeps a first line that is empty', () => {
  const html = (<TextArea name="dotenv" label="Lines" value={'\n<A>=1'} />).toString()
  expect(html).toContain('>\n\n&lt;A&gt;=1</textarea>')
})

test('a box that was unticked stays so when the form comes back', () => {
  const box = (draft?: Draft) =>
    (<Checkbox name="secret" label="Secret" value draft={draft} />).toString()
  expect(box()).toContain('checked')
  expect(box(draft({ secret: '0' }))).not.toContain('checked')
  expect(box()).toContain('<input type="hidden" name="secret" value="0"/>')
})

test('a choice keeps what was chosen', () => {
  const options = [
    { value: '', label: 'As the project' },
    { value: '1', label: 'Deploy' },
  ]
  const html = (
    <SelectField name="auto" label="Auto" options={options} value="" draft={draft({ auto: '1' })} />
  ).toString()
  expect(html).toContain('<option value="1" selected="">')
})

test('what is wrong with the whole form is said on top', () => {
  const html = (<FormError draft={{ ...draft({}), message: 'Taken.' }} />).toString()
  expect(html).toContain('role="alert"')
  expect((<FormError draft={draft({})} />)?.toString() ?? '').not.toContain('alert')
})

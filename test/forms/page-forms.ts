/** A form of a page, as a browser without scripts knows it. */
export type PageForm = {
  attributes: Record<string, string>
  action: string
  method: string
  /** What it sends, as it stands, without its buttons. */
  fields: Field[]
  buttons: Field[]
}

export type Field = { name: string; value: string; type: string; required: boolean }

/** The forms of a page or a fragment, parsed as HTML is; `path` is where it was. */
export async function formsOf(html: string, path: string): Promise<PageForm[]> {
  const forms: PageForm[] = []
  let select: { field: Field; form: PageForm; hasChoice: boolean } | null = null
  const form = () => forms.at(-1)!
  const inForm = (handler: (element: HTMLRewriterTypes.Element) => void) => ({
    element: (element: HTMLRewriterTypes.Element) => handler(element),
  })
  const rewriter = new HTMLRewriter()
    .on('form', {
      element(element) {
        const attributes = Object.fromEntries(element.attributes)
        const action = decoded(attributes['action'] ?? path)
        const method = (attributes['method'] ?? 'get').toLowerCase()
        forms.push({ attributes, action, method, fields: [], buttons: [] })
      },
    })
    .on(
      'form input',
      inForm((element) => {
        const field = fieldOf(element)
        if (['submit', 'button', 'image'].includes(field.type)) return
        const isBox = ['checkbox', 'radio'].includes(field.type)
        if (isBox && !element.hasAttribute('checked')) return
        form().fields.push(isBox && !field.value ? { ...field, value: 'on' } : field)
      }),
    )
    .on('form textarea', {
      element: (element) => void form().fields.push({ ...fieldOf(element), type: 'textarea' }),
      text({ text }) {
        const field = form().fields.at(-1)!
        field.value = decoded(field.value + text)
      },
    })
    .on(
      'form select',
      inForm((element) => {
        select = { field: { ...fieldOf(element), type: 'select' }, form: form(), hasChoice: false }
        form().fields.push(select.field)
      }),
    )
    .on(
      'form option',
      inForm((element) => {
        if (!select) return
        const isChosen = element.hasAttribute('selected')
        if (select.hasChoice && !isChosen) return
        select.hasChoice = true
        select.field.value = decoded(element.getAttribute('value') ?? '')
      }),
    )
    .on(
      'form button',
      inForm((element) => {
        const type = element.getAttribute('type') ?? 'submit'
        if (type === 'submit') form().buttons.push({ ...fieldOf(element), type })
      }),
    )
  await rewriter.transform(new Response(html)).text()
  for (const { fields } of forms)
    for (const field of fields)
      if (field.type === 'textarea') field.value = field.value.replace(/^\n/, '')
  return forms
}

function fieldOf(element: HTMLRewriterTypes.Element): Field {
  return {
    name: element.getAttribute('name') ?? '',
    value: decoded(element.getAttribute('value') ?? ''),
    type: element.getAttribute('type') ?? 'text',
    required: element.hasAttribute('required'),
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const decoded = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name]!)

// xterm.js writes its rules into <style> elements and its colours into style attributes, which our
// Content-Security-Policy refuses. Both are set through the CSSOM instead, which it allows.

const { setAttribute } = Element.prototype

/** Opens the terminal in that element. */
export function openStyled(terminal, element) {
  Element.prototype.setAttribute = function (name, value) {
    if (name === 'style') this.style.cssText = value
    else setAttribute.call(this, name, value)
  }
  document.createElement = function (name, options) {
    if (name !== 'style') return Document.prototype.createElement.call(this, name, options)
    return styleHolder()
  }
  terminal.open(element)
  delete document.createElement
}

/** Stands for a <style> element; its rules count in the whole document, as those of one do. */
function styleHolder() {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  const holder = document.createElement('template')
  Object.defineProperty(holder, 'textContent', { set: (text) => sheet.replaceSync(text) })
  return holder
}

/**
 * A process of its own that asks Davit for its health without a rest. For each line on its standard
 * input it prints the longest answer since the line before, in milliseconds.
 */
export {} // top-level await is for modules

const [url] = process.argv.slice(2)
let longest = 0
let from = performance.now()

void (async () => {
  while (true) {
    from = performance.now()
    await fetch(`${url}/health`).then((answer) => answer.text())
    longest = Math.max(longest, performance.now() - from)
    await Bun.sleep(2)
  }
})()

for await (const _ of console) {
  console.log(Math.max(longest, performance.now() - from).toFixed(1))
  longest = 0
  from = performance.now()
}
process.exit(0)

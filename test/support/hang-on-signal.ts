/** Loaded before Davit: stands its loop still for good when asked to by SIGUSR2. */
process.on('SIGUSR2', () => {
  for (;;);
})

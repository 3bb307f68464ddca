"""The local index: full text by SQLite FTS5, and embeddings where a model is installed. Built by `mirage index`, asked
by the command `search`.

  database   the file: schema, changes, questions
  build      from the files of a Terminal to the database, only what changed
  text       what of a file is indexed
  wordpiece, model   from text to vectors: all-MiniLM-L6-v2, run with numpy
  query      the answer to a question, ranked
"""
